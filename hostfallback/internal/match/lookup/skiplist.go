package lookup

import "heddle/hostfallback/internal/match/docset"

// skipFan is the number of nodes of a skip list for each node of the level above.
const skipFan = 16

// skips is a perfect skip list over docIDs (Pugh 1990; Moffat and Zobel 1996). Node i of
// level k, counted from 1, is the last of docIDs i*16^k to (i+1)*16^k-1. The highest level
// has at most 16 nodes.
type skips [][]uint32

// newSkips builds the levels over docs, from level 1 on.
func newSkips(docs []uint32) skips {
	var s skips
	for level := docs; len(level) > skipFan; {
		nodes := make([]uint32, 0, (len(level)+skipFan-1)/skipFan)
		for i := skipFan - 1; i < len(level)+skipFan-1; i += skipFan {
			nodes = append(nodes, level[min(i, len(level)-1)])
		}
		s = append(s, nodes)
		level = nodes
	}
	return s
}

// filterSkips searches from the position of the candidate before: up while the next node is
// below the candidate, then right and down.
func filterSkips(dst, cand, docs []uint32, s skips, at int) (n, next int) {
	for _, x := range cand {
		if at == len(docs) {
			break
		}
		k := 0
		for k < len(s) && s[k][at>>(4*(k+1))] < x {
			k++
		}
		for ; k >= 0; k-- {
			level := docs
			if k > 0 {
				level = s[k-1]
			}
			i := at >> (4 * k)
			for i < len(level) && level[i] < x {
				i++
			}
			if at = max(at, i<<(4*k)); i == len(level) {
				at = len(docs)
				break
			}
		}
		if at == len(docs) {
			break
		}
		dst[n] = x
		n += docset.Equal(docs[at], x)
	}
	return n, at
}
