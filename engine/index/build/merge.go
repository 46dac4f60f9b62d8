package build

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"io"
	"slices"
)

// merged is the whole list of a term.
type merged struct {
	term        string
	docs, freqs []uint32
}

// merge gives emit the lists of all runs, ascending by term; lists of the same term are
// joined in the order of the runs. The argument of emit is valid until emit returns; with two lists
// in memory, the next one is decoded meanwhile.
func merge(ctx context.Context, runs []cursor, lists int, emit func(*merged) error) error {
	m, err := newMerger(runs)
	if err != nil {
		return err
	}
	full := make(chan *merged)
	empty := make(chan *merged, lists)
	for range lists {
		empty <- &merged{}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed error // of the decoder, written before it closes full
	go func() {
		defer close(full)
		for l := range empty {
			if failed = cmp.Or(ctx.Err(), m.next(l)); failed != nil {
				return
			}
			full <- l
		}
	}()
	for l := range full {
		if err == nil {
			if err = emit(l); err != nil {
				cancel() // and wait for the decoder, which reads the caller's runs
			}
		}
		empty <- l
	}
	if err == nil && failed != io.EOF {
		err = failed
	}
	return err
}

// merger merges runs list by list.
type merger struct {
	heads []*head // a heap by (term, number)
}

// head is the next list of a run.
type head struct {
	list
	run    cursor
	number int // docIDs of a term ascend with it
}

func newMerger(runs []cursor) (*merger, error) {
	m := &merger{}
	for i, r := range runs {
		h := &head{run: r, number: i}
		switch err := r.next(&h.list); err {
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

// next makes l the list of the next term; io.EOF behind the last.
func (m *merger) next(l *merged) error {
	if len(m.heads) == 0 {
		return io.EOF
	}
	l.term = string(m.heads[0].term)
	l.docs, l.freqs = l.docs[:0], l.freqs[:0]
	for len(m.heads) > 0 && string(m.heads[0].term) == l.term {
		h := m.heads[0]
		if err := l.add(&h.list); err != nil {
			return err
		}
		switch err := h.run.next(&h.list); err {
		case nil:
			heap.Fix(m, 0)
		case io.EOF:
			heap.Pop(m)
		default:
			return err
		}
	}
	return nil
}

// add appends the postings of part.
func (l *merged) add(part *list) error {
	n := len(l.docs)
	l.docs = slices.Grow(l.docs, int(part.docs))
	l.freqs = slices.Grow(l.freqs, int(part.docs))
	if part.read == nil {
		l.docs, l.freqs = part.decode(l.docs, l.freqs)
	} else {
		var err error
		if l.docs, l.freqs, err = part.read(l.docs, l.freqs); err != nil {
			return err
		}
	}
	if n > 0 && n < len(l.docs) && l.docs[n] <= l.docs[n-1] {
		return fmt.Errorf("%w: two lists of the term %.60q", ErrCorrupt, l.term)
	}
	return nil
}

// The methods of heap.Interface.

func (m *merger) Len() int { return len(m.heads) }
func (m *merger) Less(i, j int) bool {
	x, y := m.heads[i], m.heads[j]
	return cmp.Or(bytes.Compare(x.term, y.term), cmp.Compare(x.number, y.number)) < 0
}
func (m *merger) Swap(i, j int) { m.heads[i], m.heads[j] = m.heads[j], m.heads[i] }
func (m *merger) Push(x any)    { m.heads = append(m.heads, x.(*head)) }
func (m *merger) Pop() any {
	h := m.heads[len(m.heads)-1]
	m.heads = m.heads[:len(m.heads)-1]
	return h
}
