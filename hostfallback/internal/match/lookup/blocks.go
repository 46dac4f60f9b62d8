package lookup

import "heddle/codec"

// blocks looks candidates up in a compressed list of any codec. It searches the skip entries
// or key docIDs and decodes only the block that they select (Ding et al. 2009, section 8.1).
// Candidates ascend: all candidates of one block are looked up together, and the block
// decoded last often serves the next call.
type blocks struct {
	view    codec.Blocks
	length  uint32
	cached  int // the block in docs, -1 for none
	docs    []uint32
	decoded uint64 // number of blocks since the last Prober.Decoded
}

// open prepares b for the list l.
func (b *blocks) open(l codec.List) error {
	b.length, b.cached = l.Len, -1
	return b.view.Open(l)
}

// filter copies the candidates that the list contains to the front of dst and returns their
// number. The table of f, if any, narrows the search for a block; f then searches the block.
func (b *blocks) filter(dst, cand []uint32, f *finder) (int, error) {
	n := 0
	for len(cand) > 0 {
		x := cand[0]
		if b.cached < 0 || len(b.docs) == 0 || x < b.docs[0] || x > b.docs[len(b.docs)-1] {
			lo, hi := f.narrow(x, b.length)
			k := b.view.FindIn(x, int(lo), int(hi))
			if k == b.view.Count() {
				cand = cand[1:]
				continue
			}
			if k != b.cached {
				var err error
				if b.docs, err = b.view.Decode(b.docs[:0], k); err != nil {
					b.cached = -1
					return 0, err
				}
				b.cached = k
				b.decoded++
				f.at = 0
			}
		}
		in := 0
		if len(b.docs) > 0 {
			in = Gallop(cand, b.docs[len(b.docs)-1])
			if in < len(cand) && cand[in] == b.docs[len(b.docs)-1] {
				in++
			}
		}
		if in == 0 { // x lies behind the block, or the block is empty
			cand = cand[1:]
			continue
		}
		n += f.inBlock(dst[n:], cand[:in], b.docs)
		cand = cand[in:]
	}
	return n, nil
}
