package compress

import (
	"encoding/binary"
	"math"

	"github.com/klauspost/compress/zstd"
)

// Train returns a zstd dictionary of about size bytes for blocks that are like the samples, or nil if
// these are too few or have nothing in common. The same samples give the same dictionary.
func Train(samples [][]byte, size int) []byte {
	history := cover(samples, size)
	d, err := zstd.BuildDict(zstd.BuildDictOptions{ID: dictionaryID, Contents: samples, History: history, Offsets: [3]int{1, 4, 8}})
	if err != nil { // too little of a kind to make a code of
		return nil
	}
	return d
}

// dictionaryID is the number of the dictionary in each block, the only one of its file.
const dictionaryID = 1

// The algorithm of Liao, Petri, Moffat and Wirth 2016, Effective Construction of Relative Lempel-Ziv
// Dictionaries, with hashes of strings in the place of suffix arrays, as COVER of zstd has it.
const (
	stringBytes  = 8   // length of the strings that are counted
	segmentBytes = 256 // length of the parts that the dictionary consists of
	tableBits    = 20
)

func stringHash(b []byte) uint64 {
	return binary.LittleEndian.Uint64(b) * 0x9E3779B97F4A7C15 >> (64 - tableBits)
}

// cover chooses the segments whose different strings occur in the most samples: one of each of the parts
// into which it divides the samples. A string counts once in the dictionary. The best part of a
// dictionary is its end, which blocks reach with the shortest distances.
func cover(samples [][]byte, size int) []byte {
	counts := make([]uint16, 1<<tableBits) // samples with a string
	last := make([]uint32, 1<<tableBits)   // the last of them, from 1
	var all []byte
	for i, s := range samples {
		for j := range max(len(s)-stringBytes+1, 0) {
			if h := stringHash(s[j:]); last[h] != uint32(i+1) {
				last[h] = uint32(i + 1)
				counts[h] = min(counts[h], math.MaxUint16-1) + 1
			}
		}
		all = append(all, s...)
	}
	parts := size / segmentBytes
	var history []byte
	inside := make([]uint16, 1<<tableBits) // occurrences in the current segment
	for i := range parts {
		part := all[i*len(all)/parts : (i+1)*len(all)/parts]
		if len(part) < segmentBytes {
			continue
		}
		segment := bestSegment(part, counts, inside)
		for j := range segmentBytes - stringBytes + 1 {
			counts[stringHash(segment[j:])] = 0
		}
		history = append(history, segment...)
	}
	return history
}

// bestSegment returns the segment of a part whose different strings have the greatest sum of counts. Inside is
// zeros.
func bestSegment(part []byte, counts, inside []uint16) []byte {
	const strings = segmentBytes - stringBytes + 1 // strings that begin in a segment
	sum, most, at := 0, -1, 0
	n := len(part) - stringBytes + 1
	for j := range n {
		h := stringHash(part[j:])
		if inside[h] == 0 {
			sum += int(counts[h])
		}
		inside[h]++
		if first := j - strings; first >= 0 {
			h = stringHash(part[first:])
			if inside[h]--; inside[h] == 0 {
				sum -= int(counts[h])
			}
		}
		if j >= strings-1 && sum > most {
			most, at = sum, j-strings+1
		}
	}
	for j := max(n-strings, 0); j < n; j++ {
		inside[stringHash(part[j:])] = 0
	}
	return part[at : at+segmentBytes]
}
