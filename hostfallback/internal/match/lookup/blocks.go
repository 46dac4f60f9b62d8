package lookup

import (
	"heddle/codec"
	"heddle/hostfallback/internal/match/docset"
)

// blocks looks candidates up in a compressed list of any codec. It searches the skip entries
// or key docIDs and decodes only the block that they select (Ding et al. 2009, section 8.1).
// In a list of a line codec, random searches decode single docIDs where candidates are few.
type blocks struct {
	view    codec.Blocks
	lines   *codec.Lines // nil for other codecs
	hashed  bool         // blocks are hash buckets
	length  uint32
	cached  int // the block in docs, -1 for none
	docs    []uint32
	decoded uint64 // number of blocks since the last Prober.Decoded
}

// open prepares b for the list l.
func (b *blocks) open(l codec.List) error {
	b.length, b.cached, b.hashed = l.Len, -1, hashed(l.Codec)
	err := b.view.Open(l)
	b.lines = b.view.Lines()
	return err
}

// filter copies the candidates that the list contains to the front of dst and returns their
// number.
func (b *blocks) filter(dst, cand []uint32, f *finder) (int, error) {
	if len(cand) > 0 && b.lines != nil && f.random() && b.sparse(cand) {
		return b.probe(dst, cand, f)
	}
	return b.filterBlocks(dst, cand, f)
}

// blocksPerProbe is the least number of blocks for each candidate from which on single docIDs
// take less time than whole blocks.
const blocksPerProbe = 2

// sparse reports whether candidates are few among the blocks between the first and the last
// one.
func (b *blocks) sparse(cand []uint32) bool {
	return blocksPerProbe*len(cand) <= b.view.Find(cand[len(cand)-1])-b.view.Find(cand[0])
}

// probe decodes the docIDs that a binary search compares with a candidate, one by one (Ao et
// al. 2011, Algorithm 1). The table of f, or the line or the hash of the list, narrows the
// search for a block, and the line of the block narrows the search in the block.
func (b *blocks) probe(dst, cand []uint32, f *finder) (n int, err error) {
	for _, x := range cand {
		lo, hi := f.narrow(x, b.length)
		_, found, err := b.lines.FindIn(x, int(lo), int(hi))
		if err != nil {
			return 0, err
		}
		dst[n] = x
		if found {
			n++
		}
	}
	return n, nil
}

// filterBlocks decodes blocks. The table of f, if any, narrows the search for a block; f then
// searches the block for all its candidates. Candidates ascend, and the block decoded last
// often serves the next call.
func (b *blocks) filterBlocks(dst, cand []uint32, f *finder) (int, error) {
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
		if len(b.docs) == 0 || x < b.docs[0] { // the range of an absent docID may lead to a later block
			cand = cand[1:]
			continue
		}
		in := docset.Gallop(cand, b.docs[len(b.docs)-1])
		if in < len(cand) && cand[in] == b.docs[len(b.docs)-1] {
			in++
		}
		if in == 0 { // x lies behind the block
			cand = cand[1:]
			continue
		}
		n += f.inBlock(dst[n:], cand[:in], b.docs)
		cand = cand[in:]
	}
	return n, nil
}
