package gather

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"io"
	"slices"

	"heddle/engine/file/input"
)

// Merged is the whole list of a term.
type Merged struct {
	Term        string
	Docs, Freqs []uint32
	Positions   []uint32 // values of the postings, see Tally; nil without positions
}

// batch is the lists of successive terms. A list goes to another goroutine with many others, and a
// goroutine that joins a pile meanwhile leaves enough lists to the other one.
type batch struct {
	docs, freqs []uint32 // docIDs and frequencies of all lists, list after list
	lists       []Merged // merged lists: each has its term at once, docs and freqs once the batch is complete
	ends        []int    // where each list ends in docs
	positions   []uint32 // values of the positions of all lists
	places      []int    // where each list ends in positions
}

// BatchSize is the number of postings at which a batch is complete.
const BatchSize = 1 << 16

// Merge gives emit the lists of all runs, ascending by term; lists of the same term are
// joined in the order of the runs. The argument of emit is valid until emit returns. With several batches
// in memory, further lists are decoded meanwhile. A batch has up to BatchSize postings, and one more list.
// With positions, the lists have some.
func Merge(ctx context.Context, runs []Cursor, batches int, positions bool, emit func(*Merged) error) error {
	m, err := newMerger(runs, positions)
	if err != nil {
		return err
	}
	full := make(chan *batch, batches)
	empty := make(chan *batch, batches)
	for range batches {
		empty <- &batch{}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed error // error of the decoder, written before it closes full
	go func() {
		defer close(full)
		for b := range empty {
			failed = cmp.Or(ctx.Err(), m.fill(b))
			full <- b
			if failed != nil {
				return
			}
		}
	}()
	for b := range full {
		for i := 0; i < len(b.lists) && err == nil; i++ {
			if err = ctx.Err(); err == nil {
				err = emit(&b.lists[i])
			}
			if err != nil {
				cancel() // and wait for the decoder, which reads the caller's runs
			}
		}
		empty <- b
	}
	if err == nil && failed != io.EOF {
		err = failed
	}
	return err
}

// merger merges runs list by list.
type merger struct {
	heads     []*head // a heap by (term, number)
	positions bool
}

// head is the next list of a run.
type head struct {
	List
	run    Cursor
	number int // docIDs of a term ascend with it
}

func newMerger(runs []Cursor, positions bool) (*merger, error) {
	m := &merger{positions: positions}
	for i, r := range runs {
		h := &head{run: r, number: i}
		switch err := r.Next(&h.List); err {
		case nil:
			m.heads = append(m.heads, h)
		case io.EOF:
		default:
			return nil, err
		}
	}
	heap.Init(m)
	return m, nil
}

// fill makes b the next lists; io.EOF behind the last, with lists or without.
func (m *merger) fill(b *batch) (err error) {
	b.docs, b.freqs, b.lists, b.ends = b.docs[:0], b.freqs[:0], b.lists[:0], b.ends[:0]
	b.positions, b.places = b.positions[:0], b.places[:0]
	for err == nil && len(b.docs) < BatchSize && len(b.positions) < 2*BatchSize && len(b.lists) < BatchSize/16 {
		err = m.next(b)
	}
	start := 0
	for i, end := range b.ends {
		b.lists[i].Docs, b.lists[i].Freqs = b.docs[start:end], b.freqs[start:end]
		start = end
	}
	start = 0
	for i, end := range b.places {
		if m.positions {
			b.lists[i].Positions = b.positions[start:end]
		}
		start = end
	}
	return err
}

// next adds the list of the next term to b; io.EOF behind the last.
func (m *merger) next(b *batch) error {
	if len(m.heads) == 0 {
		return io.EOF
	}
	term := string(m.heads[0].Term)
	for start := len(b.docs); len(m.heads) > 0 && string(m.heads[0].Term) == term; {
		h := m.heads[0]
		n := len(b.docs)
		if err := b.add(&h.List, m.positions); err != nil {
			return err
		}
		if n > start && n < len(b.docs) && b.docs[n] <= b.docs[n-1] {
			return fmt.Errorf("%w: two lists of the term %.60q", input.ErrCorrupt, term)
		}
		switch err := h.run.Next(&h.List); err {
		case nil:
			heap.Fix(m, 0)
		case io.EOF:
			heap.Pop(m)
		default:
			return err
		}
	}
	b.lists, b.ends, b.places = append(b.lists, Merged{Term: term}), append(b.ends, len(b.docs)), append(b.places, len(b.positions))
	return nil
}

// add appends the postings of part.
func (b *batch) add(part *List, positions bool) (err error) {
	b.docs = slices.Grow(b.docs, int(part.Docs))
	b.freqs = slices.Grow(b.freqs, int(part.Docs))
	if part.Read == nil {
		part.decode(b, positions)
		return nil
	}
	b.docs, b.freqs, err = part.Read(b.docs, b.freqs)
	return err
}

// The methods of heap.Interface.

func (m *merger) Len() int { return len(m.heads) }
func (m *merger) Less(i, j int) bool {
	x, y := m.heads[i], m.heads[j]
	return cmp.Or(bytes.Compare(x.Term, y.Term), cmp.Compare(x.number, y.number)) < 0
}
func (m *merger) Swap(i, j int) { m.heads[i], m.heads[j] = m.heads[j], m.heads[i] }
func (m *merger) Push(x any)    { m.heads = append(m.heads, x.(*head)) }
func (m *merger) Pop() any {
	h := m.heads[len(m.heads)-1]
	m.heads = m.heads[:len(m.heads)-1]
	return h
}
