package hdl

import (
	"errors"
	"math"
	"sync/atomic"

	"heddle/codec/positions"
	"heddle/engine/file/container"
	"heddle/engine/file/mapped"
	"heddle/engine/plan"
)

// positionPlace is where the positions of a block of descriptors, or of a list, begin.
type positionPlace struct {
	values uint64 // occurrences before
	ranks  uint64 // words of section position-ranks before
}

// positionPlaceSize is the size of an entry of section position-lists, in bytes.
const positionPlaceSize = 16

// positionLists is where the lists of a block of descriptors have their positions, and the end of the last.
type positionLists [listBlock + 1]positionPlace

// openPositions makes the positions of the source, if the index has some.
func (f *File) openPositions() error {
	tokens := f.header.tokens
	lengths := map[section]uint64{secPositions: 0, secPositionBlocks: 0, secPositionLists: 0, secPositionRanks: 0}
	if f.meta.Positions {
		lengths = map[section]uint64{
			secPositionBlocks: 4 * positions.GroupWords * positions.Groups(tokens),
			secPositionLists:  positionPlaceSize * (blocksOfLists(uint64(f.header.terms)) + 1),
		}
	}
	for s, want := range lengths {
		if n := uint64(len(f.bytes(s))); n != want {
			return f.file.CorruptEntry(int(s), "has %d bytes; %d terms with %d tokens need %d", n, f.header.terms, tokens, want)
		}
	}
	if !f.meta.Positions {
		return nil
	}
	for _, s := range []section{secPositions, secPositionRanks} {
		if n := len(f.bytes(s)); n%4 != 0 {
			return f.file.CorruptEntry(int(s), "has %d bytes, not a multiple of 4", n)
		}
	}
	if f.lazy {
		if err := f.file.CheckSection(int(secPositionLists)); err != nil {
			return err
		}
	}
	f.positionBlocks = container.View[uint64](f.bytes(secPositionLists))
	blocks := blocksOfLists(uint64(f.header.terms))
	end := positionPlace{tokens, uint64(len(f.bytes(secPositionRanks))) / 4}
	if first, last := f.positionPlace(0), f.positionPlace(blocks); first != (positionPlace{}) || last != end {
		return f.corrupt(secPositionLists, 0, "the lists begin at %v and end at %v, their sections at %v", first, last, end)
	}
	f.positionLists = make([]atomic.Pointer[positionLists], blocks)
	p := &plan.Positions{Of: f.occurrences, All: f.allPositions}
	p.Values = positions.Reader{Words: container.View[uint32](f.bytes(secPositions)), Directory: container.View[uint32](f.bytes(secPositionBlocks)), Count: tokens}
	if f.lazy {
		p.Values.Check = func(directory bool, from, to uint64) error {
			s := secPositions
			if directory {
				s = secPositionBlocks
			}
			return f.file.Check(int(s), 4*from, 4*to)
		}
	}
	f.source.Positions = p
	return nil
}

func (f *File) positionPlace(block uint64) positionPlace {
	return positionPlace{f.positionBlocks[2*block], f.positionBlocks[2*block+1]}
}

// listsAt reads where the lists of a block have their positions.
func (f *File) listsAt(block uint64) (*positionLists, error) {
	if l := f.positionLists[block].Load(); l != nil {
		return l, nil
	}
	l, at, i := new(positionLists), f.positionPlace(block), 0
	end := f.positionPlace(block + 1)
	err := f.descriptors(block, func(_ plan.Handle, d *descriptor) error {
		l[i] = at
		i++
		if d.tokens < uint64(d.len) || plan.RankBits(d.len, d.tokens) > plan.MaxRankBits || d.tokens > end.values-min(at.values, end.values) {
			return f.corrupt(secPositionLists, positionPlaceSize*block, "%d positions of a list at %v, its block ends at %v", d.tokens, at, end)
		}
		at.values += d.tokens
		at.ranks += rankWords(d.len, d.tokens)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if at != end {
		return nil, f.corrupt(secPositionLists, positionPlaceSize*(block+1), "the lists of block %d end at %v, the next begins at %v", block, at, end)
	}
	for ; i < len(l); i++ {
		l[i] = at
	}
	f.positionLists[block].Store(l)
	return l, nil
}

// occurrences is plan.Positions.Of.
func (f *File) occurrences(h plan.Handle) plan.Occurrences {
	f.source.Describe(h)
	block, i := uint64(h)/listBlock, h%listBlock
	l, err := f.listsAt(block)
	if err == nil && l[i+1].ranks > uint64(len(f.bytes(secPositionRanks)))/4 {
		err = f.corrupt(secPositionLists, positionPlaceSize*block, "ranks of list %d at %v", h, l[i])
	}
	if err != nil {
		panic(&mapped.Fault{Err: err})
	}
	f.use(secPositionRanks, 4*l[i].ranks, 4*l[i+1].ranks)
	return plan.Occurrences{
		First: l[i].values, Count: l[i+1].values - l[i].values, Postings: f.source.Lists[h].Len,
		Ranks: container.View[uint32](f.bytes(secPositionRanks))[l[i].ranks:l[i+1].ranks], RanksAt: l[i].ranks,
	}
}

// allPositions is plan.Positions.All.
func (f *File) allPositions() ([]uint32, error) {
	if f.lazy {
		for _, s := range []section{secPositions, secPositionBlocks, secPositionRanks} {
			if err := f.file.CheckSection(int(s)); err != nil {
				return nil, err
			}
		}
	}
	return container.View[uint32](f.bytes(secPositionRanks)), nil
}

// HasPositions reports whether the index stores positions.
func (f *File) HasPositions() bool { return f.meta.Positions }

// Positions appends the values of list h, which must be below Terms, as Writer.AddPositions takes them. An error is a *CorruptError,
// and dst comes back as it was. The index must have positions.
func (f *File) Positions(dst []uint32, h plan.Handle) (_ []uint32, err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	o, n := f.occurrences(h), len(dst)
	if dst, err = f.source.Positions.Values.Append(dst, o.First, o.Count); err != nil {
		return dst[:n], f.corruptPositions(err)
	}
	return dst, nil
}

// corruptPositions turns an error of package positions into a CorruptError.
func (f *File) corruptPositions(err error) error {
	if c := (*positions.CorruptError)(nil); errors.As(err, &c) {
		return f.corrupt(secPositions, 0, "%v", c)
	}
	return err
}

// verifyPositions checks the blocks of positions.
func (f *File) verifyPositions() error {
	if !f.meta.Positions {
		return nil
	}
	return f.corruptPositions(f.source.Positions.Values.Validate())
}

// verifyPositionsOf checks the ranks and the positions of list h with these frequencies.
func (f *File) verifyPositionsOf(h plan.Handle, freqs []uint32) (err error) {
	o := f.occurrences(h)
	var values []uint32
	sum := uint64(0)
	for from := 0; from < len(freqs); from += plan.RankLen {
		if rank := o.Rank(uint32(from / plan.RankLen)); rank != sum {
			return f.corrupt(secPositionRanks, 0, "list %d: %d occurrences before posting %d, its rank is %d", h, sum, from, rank)
		}
		part, n := freqs[from:min(from+plan.RankLen, len(freqs))], uint64(0)
		for _, x := range part {
			n += uint64(x)
		}
		if values, err = f.source.Positions.Values.Append(values[:0], o.First+sum, n); err != nil {
			return f.corruptPositions(err)
		}
		sum += n
		rest := values
		for i, x := range part {
			at := uint64(rest[0])
			for _, gap := range rest[1:x] {
				at += uint64(gap) + 1
			}
			if rest = rest[x:]; at > math.MaxUint32 {
				return f.corrupt(secPositions, 0, "list %d: the positions of posting %d reach %d", h, from+i, at)
			}
		}
	}
	return nil
}
