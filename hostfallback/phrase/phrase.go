// Package phrase makes the lists of phrases in pure Go: it intersects the documents of the slots, the shortest
// slot first, and compares the positions of each candidate. It reads the positions of candidates alone.
package phrase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"heddle/codec"
	"heddle/engine/plan"
)

// ErrPositions is the cause of errors of phrases on a source without positions.
var ErrPositions = errors.New("the lists have no positions")

// step is the work between two looks at the context, in slots of candidates and positions.
const step = 1 << 18

// Make sets out to the list of p; best, unless it is nil, lets it pass over documents. Damage is an error, or a panic with a
// *mapped.Fault.
func Make(ctx context.Context, src *plan.Source, p *plan.Phrase, best *Best, out *plan.Made) error {
	*out = plan.Made{Docs: out.Docs[:0], Freqs: out.Freqs[:0]}
	if src.Positions == nil {
		return ErrPositions
	}
	m, err := newMatcher(src, p)
	if err != nil || m == nil {
		return err
	}
	defer m.release()
	m.ctx = ctx
	if p.Kind == plan.Exact && !slices.ContainsFunc(m.slots, func(s slot) bool { return len(s.cursors) > 1 }) {
		m.best = best
	}
	docs, err := m.order[0].docs()
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := m.look(docs, true, out); err != nil {
		return err
	}
	out.Candidates, out.Positions = m.candidates, m.read
	return nil
}

// Complete looks at the documents that are left of a list of p. It counts them as no candidates: what left them has counted them.
func Complete(ctx context.Context, src *plan.Source, p *plan.Phrase, made *plan.Made) error {
	slices.Sort(made.Left)
	m, err := newMatcher(src, p)
	if err != nil || m == nil {
		return err
	}
	defer m.release()
	m.ctx = ctx
	var more plan.Made
	if err := m.look(made.Left, false, &more); err != nil {
		return err
	}
	i, j := len(made.Docs)-1, len(more.Docs)-1
	made.Docs, made.Freqs = append(made.Docs, more.Docs...), append(made.Freqs, more.Freqs...)
	for to := len(made.Docs) - 1; j >= 0; to-- {
		if i >= 0 && made.Docs[i] > more.Docs[j] {
			made.Docs[to], made.Freqs[to] = made.Docs[i], made.Freqs[i]
			i--
		} else {
			made.Docs[to], made.Freqs[to] = more.Docs[j], more.Freqs[j]
			j--
		}
	}
	made.Left, made.Positions = nil, made.Positions+m.read
	return nil
}

// look adds those of some documents that match. They are all documents of the first slot, or any.
func (m *matcher) look(docs []uint32, all bool, out *plan.Made) error {
	for from := 0; from < len(docs); from += codec.SegmentLen {
		end := min(from+codec.SegmentLen, len(docs))
		keep, err := m.narrow(docs[from:end], from, all)
		if err != nil {
			return err
		}
		for _, k := range keep {
			doc := docs[from+int(k)]
			f, err := m.frequency(doc, k)
			if err != nil {
				return err
			}
			if f == 0 {
				continue
			}
			out.Docs, out.Freqs = append(out.Docs, doc), append(out.Freqs, f)
			if m.best != nil {
				m.best.Add(f, m.src.Lengths[doc])
			}
		}
	}
	return nil
}

// matcher finds the frequency of a phrase in documents that ascend.
type matcher struct {
	*plan.Phrase
	slots []slot
	order []*slot                 // by ascending number of postings
	count func(m *matcher) uint64 // from the positions of all slots; nil for an exact phrase
	sloppy
	starts []int64 // of an exact phrase, by the slots so far
	keep   [codec.SegmentLen]uint8

	best             *Best // of an exact phrase without alternatives
	src              *plan.Source
	ctx              context.Context
	work             int    // since the last look at ctx
	candidates, read uint64 // as in plan.Made
	err              error  // of ctx: the frequency is incomplete
}

// ended counts work, and tells whether the context has ended.
func (m *matcher) ended(work int) bool {
	if m.work += work; m.work >= step {
		m.work, m.err = 0, m.ctx.Err()
	}
	return m.err != nil
}

// slot is a slot of the phrase with the positions of the current document.
type slot struct {
	cursors   []*cursor
	same      *slot // an earlier slot of the same list, whose positions it has; nil: none
	offset    int64
	postings  uint64
	positions []int64 // ascending
	at        int     // scratch of a matcher
}

// matchers keeps the memory of matchers.
var matchers = sync.Pool{New: func() any { return new(matcher) }}

// newMatcher returns nil if a slot has no postings.
func newMatcher(src *plan.Source, p *plan.Phrase) (*matcher, error) {
	m := matchers.Get().(*matcher)
	m.Phrase, m.src, m.slots = p, src, slices.Grow(m.slots[:0], len(p.Slots))[:len(p.Slots)]
	alone := map[plan.Handle]*slot{} // slots of one list
	for i, s := range p.Slots {
		to := &m.slots[i]
		*to = slot{cursors: to.cursors[:0], offset: int64(s.Offset), positions: to.positions[:0]}
		if len(s.Lists) == 1 {
			if other := alone[s.Lists[0]]; other != nil {
				to.same, to.postings = other, other.postings
				m.order = append(m.order, to)
				continue
			}
			alone[s.Lists[0]] = to
		}
		for _, h := range s.Lists {
			src.Describe(h)
			if src.Lists[h].Len == 0 {
				continue
			}
			c, err := open(src, h)
			if err != nil {
				return nil, fmt.Errorf("list %d: %w", h, err)
			}
			to.cursors = append(to.cursors, c)
			to.postings += uint64(src.Lists[h].Len)
		}
		if to.postings == 0 {
			return nil, nil
		}
		m.order = append(m.order, to)
	}
	slices.SortStableFunc(m.order, func(a, b *slot) int { return cmp.Compare(a.postings, b.postings) })
	switch p.Kind {
	case plan.Exact:
	case plan.Sloppy:
		m.count = (*matcher).sloppyFrequency
		m.findRepeats()
	case plan.Near:
		m.count = (*matcher).unordered
	case plan.Ordered:
		m.count = (*matcher).ordered
	default:
		return nil, fmt.Errorf("%w: phrases of the kind %d", plan.ErrUnsupported, p.Kind)
	}
	return m, nil
}

// release gives the matcher and its cursors back.
func (m *matcher) release() {
	for i := range m.slots {
		if m.slots[i].same != nil {
			m.slots[i].positions = nil // memory of the other slot
		}
		for _, c := range m.slots[i].cursors {
			*c = cursor{memory: c.memory, buf: c.buf}
			cursors.Put(c)
		}
	}
	*m = matcher{slots: m.slots, order: m.order[:0], starts: m.starts[:0]}
	matchers.Put(m)
}

// docs returns all documents of the slot.
func (s *slot) docs() (all []uint32, err error) {
	if len(s.cursors) == 1 {
		all = s.cursors[0].memory[:0]
	}
	for _, c := range s.cursors {
		if all, err = c.src.List(c.list).AppendTo(all); err != nil {
			return nil, fmt.Errorf("list %d: %w", c.list, err)
		}
		if n := len(all); n > 0 && all[n-1] >= c.src.Docs {
			return nil, &codec.CorruptError{Codec: c.src.Lists[c.list].Codec, Reason: fmt.Sprintf("docID %d in a universe of %d", all[n-1], c.src.Docs)}
		}
	}
	if len(s.cursors) == 1 {
		s.cursors[0].memory = all
		return all, nil
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// readSlot reads the positions of a slot in the document.
func (m *matcher) readSlot(s *slot) (err error) {
	if s.same != nil {
		s.positions = s.same.positions
		if m.ended(1) {
			return m.err
		}
		return nil
	}
	s.positions = s.positions[:0]
	for _, c := range s.cursors {
		if s.positions, err = c.positions(s.positions); err != nil {
			return fmt.Errorf("list %d: %w", c.list, err)
		}
	}
	if len(s.cursors) > 1 {
		slices.Sort(s.positions)
	}
	m.read += uint64(len(s.positions))
	if m.ended(len(s.positions)) {
		return m.err
	}
	return nil
}

// exact counts the exact matches. It reads the positions of a slot only where the slots before it match.
func (m *matcher) exact() (uint64, error) {
	for i, s := range m.order {
		if err := m.readSlot(s); err != nil {
			return 0, err
		}
		if i == 0 {
			m.starts = m.starts[:0]
			for _, p := range s.positions {
				m.starts = append(m.starts, p-s.offset)
			}
			m.starts = slices.Compact(m.starts) // two terms may lie at one position
			continue
		}
		kept, at := m.starts[:0], 0
		for _, start := range m.starts {
			for at < len(s.positions) && s.positions[at] < start+s.offset {
				at++
			}
			if at == len(s.positions) {
				break
			}
			if s.positions[at] == start+s.offset {
				kept = append(kept, start)
			}
		}
		if m.starts = kept; len(kept) == 0 {
			break
		}
	}
	return uint64(len(m.starts)) << plan.FreqBits, nil
}

// ordered counts the ordered windows.
func (m *matcher) ordered() uint64 {
	for i := range m.slots {
		m.slots[i].at = 0
	}
	n := uint64(0)
next:
	for _, last := range m.slots[0].positions {
		for i := range m.slots[1:] {
			s := &m.slots[1+i]
			for s.at < len(s.positions) && s.positions[s.at] <= last {
				s.at++
			}
			if s.at == len(s.positions) {
				break next
			}
			if s.positions[s.at]-last > int64(m.Distance) {
				continue next
			}
			last = s.positions[s.at]
		}
		n++
	}
	return n << plan.FreqBits
}

// unordered counts the unordered windows: the occurrences from which on all slots follow within the distance.
func (m *matcher) unordered() (n uint64) {
	starts, ends := newMerge(m.slots), newMerge(m.slots)
	for i := range m.slots {
		m.slots[i].at = 0
	}
	found, last := 0, int64(0) // slots in the window from the next start to last, which have at occurrences there
	for starts.Len() > 0 && !m.ended(1) {
		for found < len(m.slots) && ends.Len() > 0 {
			position, s := ends.next()
			if last, s.at = position, s.at+1; s.at == 1 {
				found++
			}
		}
		if found < len(m.slots) {
			break
		}
		first, s := starts.next()
		if last-first < int64(m.Distance) {
			n++
		}
		if s.at--; s.at == 0 {
			found--
		}
	}
	return n << plan.FreqBits
}
