package wah

// PutGroups writes groups, one a word as in OrInto, to a plain bitset. Bit 0 of dst is
// bit 0 of the first group. It writes Bitset(len(groups)*G) words, or as many as dst
// has. Further bits of the last word are 0.
func PutGroups[W Word](dst []uint64, groups []W) {
	g := uint(GroupBits[W]())
	word, have := uint64(0), uint(0) // the current word, and the number of its known bits
	for _, group := range groups {
		word |= uint64(group) << have
		if have += g; have < 64 {
			continue
		}
		if len(dst) == 0 {
			return
		}
		dst[0], dst = word, dst[1:]
		have -= 64
		word = uint64(group) >> (g - have)
	}
	if have > 0 && len(dst) > 0 {
		dst[0] = word
	}
}
