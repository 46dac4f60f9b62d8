package lookup

import "heddle/codec"

// blocks looks candidates up in a compressed list, of any codec: in its skip
// entries or key docIDs first, and only then in the block that they name, which
// it decodes (Ding et al. 2009, section 8.1). Candidates ascend: those that fall
// into one block are looked up there together, and the block decoded last is
// often the one that is needed next.
type blocks struct {
	view   codec.Blocks
	length uint32
	cached int // block in docs, -1 for none
	docs   []uint32
}

func (b *blocks) open(l codec.List) error {
	b.length, b.cached = l.Len, -1
	return b.view.Open(l)
}

// filter copies the candidates that the list has to the front of dst and returns
// how many there are. f narrows the search for a block if it has a table, and
// then searches the block.
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
