package wah

// Incompressible vectors are runs of literals, interrupted at random by fills of one
// group of zeros. Both have one word a group, so a block of eight words belongs to eight
// groups. The first loop handles blocks of literals alone. The second loop masks such
// fills without a branch, which would be unpredictable.
const (
	block = 8
	// patience is the number of words that the second loop reads before the first loop
	// takes over again.
	patience = 256
)

// orBlocks ORs blocks of words into acc, up to a block with a fill of several groups or
// of ones. It returns the number of words, which is the number of groups.
func orBlocks[W Word](acc, words []W) int {
	switch acc := any(acc).(type) {
	case []uint32:
		return orBlocks32(acc, any(words).([]uint32))
	case []uint64:
		return orBlocks64(acc, any(words).([]uint64))
	}
	return 0
}

// A pair of words of 32 bits is read, ORed and written as one of 64.
const pair = 1<<32 | 1

func orBlocks32(acc, words []uint32) int {
	n := min(len(acc), len(words)) &^ (block - 1)
	for i := 0; i < n; {
		for ; i < n; i += block {
			s, d := (*[block]uint32)(words[i:]), (*[block]uint32)(acc[i:])
			s0, s1 := uint64(s[0])|uint64(s[1])<<32, uint64(s[2])|uint64(s[3])<<32
			s2, s3 := uint64(s[4])|uint64(s[5])<<32, uint64(s[6])|uint64(s[7])<<32
			if (s0|s1|s2|s3)&(1<<31*pair) != 0 {
				break
			}
			s0 |= uint64(d[0]) | uint64(d[1])<<32
			s1 |= uint64(d[2]) | uint64(d[3])<<32
			s2 |= uint64(d[4]) | uint64(d[5])<<32
			s3 |= uint64(d[6]) | uint64(d[7])<<32
			d[0], d[1], d[2], d[3] = uint32(s0), uint32(s0>>32), uint32(s1), uint32(s1>>32)
			d[4], d[5], d[6], d[7] = uint32(s2), uint32(s2>>32), uint32(s3), uint32(s3>>32)
		}
		for end := min(i+patience, n); i < end; i += block {
			s, d := (*[block]uint32)(words[i:]), (*[block]uint32)(acc[i:])
			s0, s1 := uint64(s[0])|uint64(s[1])<<32, uint64(s[2])|uint64(s[3])<<32
			f0, f1 := fills32(s0), fills32(s1)
			s2, s3 := uint64(s[4])|uint64(s[5])<<32, uint64(s[6])|uint64(s[7])<<32
			f2, f3 := fills32(s2), fills32(s3)
			if (f0|f1|f2|f3)&^((1<<31|1)*pair) != 0 {
				return i
			}
			s0 = s0 ^ f0 | (uint64(d[0]) | uint64(d[1])<<32)
			s1 = s1 ^ f1 | (uint64(d[2]) | uint64(d[3])<<32)
			s2 = s2 ^ f2 | (uint64(d[4]) | uint64(d[5])<<32)
			s3 = s3 ^ f3 | (uint64(d[6]) | uint64(d[7])<<32)
			d[0], d[1], d[2], d[3] = uint32(s0), uint32(s0>>32), uint32(s1), uint32(s1>>32)
			d[4], d[5], d[6], d[7] = uint32(s2), uint32(s2>>32), uint32(s3), uint32(s3>>32)
		}
	}
	return n
}

// fills32 returns a pair with 0 in place of literals.
func fills32(s uint64) uint64 {
	f := s >> 31 & pair
	return s & (f<<32 - f)
}

func orBlocks64(acc, words []uint64) int {
	n := min(len(acc), len(words)) &^ (block - 1)
	for i := 0; i < n; {
		for ; i < n; i += block {
			s, d := (*[block]uint64)(words[i:]), (*[block]uint64)(acc[i:])
			if int64(s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7]) < 0 {
				break
			}
			d[0] |= s[0]
			d[1] |= s[1]
			d[2] |= s[2]
			d[3] |= s[3]
			d[4] |= s[4]
			d[5] |= s[5]
			d[6] |= s[6]
			d[7] |= s[7]
		}
		for end := min(i+patience, n); i < end; i += block {
			s, d := (*[block]uint64)(words[i:]), (*[block]uint64)(acc[i:])
			f0, f1, f2, f3 := fills64(s[0]), fills64(s[1]), fills64(s[2]), fills64(s[3])
			f4, f5, f6, f7 := fills64(s[4]), fills64(s[5]), fills64(s[6]), fills64(s[7])
			if (f0|f1|f2|f3|f4|f5|f6|f7)&^(1<<63|1) != 0 {
				return i
			}
			d[0] |= s[0] ^ f0
			d[1] |= s[1] ^ f1
			d[2] |= s[2] ^ f2
			d[3] |= s[3] ^ f3
			d[4] |= s[4] ^ f4
			d[5] |= s[5] ^ f5
			d[6] |= s[6] ^ f6
			d[7] |= s[7] ^ f7
		}
	}
	return n
}

func fills64(s uint64) uint64 { return s & uint64(int64(s)>>63) }
