package hdl

import (
	"heddle/codec/positions"
	"heddle/engine/file/container"
	"heddle/engine/plan"
)

// positionWriter packs the positions of an index with Meta.Positions.
type positionWriter struct {
	values           positions.Writer
	want             uint64 // values of all lists so far
	words, directory []uint32
	ranks            []uint32
}

// AddPositions adds the positions of the list that was added last: for each of its postings as many values as its
// frequency, the first position, then the distance of each further position from the one before, less
// one. Meta.Positions needs one call for each list, and no call is possible without it. Anything else is an
// ErrInput. The slice stays the caller's.
func (w *Writer) AddPositions(values []uint32) error {
	return w.file.Do(func() error {
		p := w.positions
		switch {
		case p == nil:
			return inputError("positions for an index that stores none")
		case p.values.Count()+uint64(len(values)) != p.want:
			return inputError("list %.60q: %d positions behind %d, %d are needed", w.last, len(values), p.values.Count(), p.want)
		}
		p.words, p.directory = p.values.Append(p.words[:0], p.directory[:0], values)
		return w.flushPositions()
	})
}

func (w *Writer) flushPositions() error {
	p := w.positions
	if err := w.file.Sections[secPositions].Append(container.LittleBytes(p.words)); err != nil {
		return err
	}
	return w.file.Sections[secPositionBlocks].Append(container.LittleBytes(p.directory))
}

// addRanks writes the ranks of a list.
func (w *Writer) addRanks(freqs []uint32, tokens uint64) error {
	p := w.positions
	if p.values.Count() != p.want {
		return inputError("the list before %.60q lacks its positions", w.last)
	}
	p.want += tokens
	if plan.RankBits(uint32(len(freqs)), tokens) > plan.MaxRankBits {
		return inputError("list %.60q: %d occurrences are too many for positions", w.last, tokens)
	}
	p.ranks = plan.AppendRanks(p.ranks[:0], freqs, tokens)
	return w.file.Sections[secPositionRanks].Append(container.LittleBytes(p.ranks))
}

// markPositions appends a positionPlace.
func (w *Writer) markPositions() error {
	if w.positions == nil {
		return nil
	}
	s := w.file.Sections[secPositionLists]
	if err := s.AppendUint64(w.positions.want); err != nil {
		return err
	}
	return s.AppendUint64(w.file.Sections[secPositionRanks].Length() / 4)
}

// finishPositions writes the last block.
func (w *Writer) finishPositions() error {
	p := w.positions
	if p == nil {
		return nil
	}
	if p.values.Count() != p.want {
		return inputError("list %.60q lacks its positions", w.last)
	}
	p.words, p.directory = p.values.Finish(p.words[:0], p.directory[:0])
	return w.flushPositions()
}

// rankWords is the number of words of the ranks of a list.
func rankWords(n uint32, tokens uint64) uint64 {
	width := uint64(plan.RankBits(n, tokens))
	if width == 0 {
		return 0
	}
	return (uint64((n-1)/plan.RankLen)*width + 31) / 32
}
