package wah

// PutGroups writes groups, a group a word as OrInto leaves them, to a plain bitset:
// bit 0 of dst is bit 0 of the first group. It writes the Bitset(len(groups)*G) words
// that they touch, or as many of them as dst has; bits of the last word that no
// group gives are 0.
func PutGroups[W Word](dst []uint64, groups []W) {
	g := uint(GroupBits[W]())
	word, have := uint64(0), uint(0) // the word under way, and how many of its bits are known
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
