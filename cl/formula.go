package cl

import (
	"cmp"
	"context"
	"slices"
	"time"

	"heddle/engine/plan"
)

// expressions answers f in rounds of kernels/formula.cl, one after the other;
// concurrent callers overlap.
func (s *Store) expressions(ctx context.Context, f *plan.MatchBatch, out *plan.Results) error {
	return s.evaluate(ctx, f, out, s.auto)
}

// evaluate takes the bitsets that algorithm a has made of some lists.
func (s *Store) evaluate(ctx context.Context, f *plan.MatchBatch, out *plan.Results, a plan.Algorithm) error {
	began := time.Now()
	t, err := s.beginFormulas(ctx, f, out, a)
	if err != nil {
		return err
	}
	if err := s.evaluatePart(ctx, f, 0, out, t, nil); err != nil {
		return err
	}
	endFormulas(s.src, f, out)
	out.Stats.Wall = time.Since(began)
	return nil
}

// beginFormulas checks f, prepares out and gives the tables.
func (s *Store) beginFormulas(ctx context.Context, f *plan.MatchBatch, out *plan.Results, a plan.Algorithm) (*tables, error) {
	out.Reset()
	if s.closed.Load() {
		return nil, plan.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := f.Validate(s.src); err != nil {
		return nil, err
	}
	out.Offsets = slices.Grow(out.Offsets, f.Queries())[:f.Queries()+1]
	clear(out.Offsets)
	return s.tablesOf(ctx, a)
}

// endFormulas makes offsets of counts.
func endFormulas(src *plan.Source, f *plan.MatchBatch, out *plan.Results) {
	for i := range f.Queries() {
		out.Offsets[i+1] += out.Offsets[i]
	}
	out.Stats.Queries = uint64(f.Queries())
	out.Stats.Candidates = f.Candidates(src)
	out.Stats.Matches = out.Offsets[f.Queries()]
}

// evaluatePart answers the formulas of f from the first one on, whose lists p has pinned
// where not all are resident.
func (s *Store) evaluatePart(ctx context.Context, f *plan.MatchBatch, first int, out *plan.Results, t *tables, p *pins) error {
	c := &formulaCut{store: s, formulas: f, tables: t, formula: first, decoded: map[plan.Handle]formulaOperand{}}
	x, err := s.freeFormulas.take(ctx, s.closing, s.newFormulaSlot)
	if err != nil {
		return err
	}
	x.after = p.events()
	for err == nil && c.formula < f.Queries() {
		if err = c.next(ctx, x); err == nil && c.groups > 0 {
			err = x.run(ctx, c, out)
		}
	}
	if err != nil {
		p.hold()
		go func() { // once nothing is under way
			x.giveBack()
			p.release()
		}()
		return err
	}
	x.giveBack()
	return nil
}

// formulaSlots is how many batches of formulas are in flight.
func (t Tuning) formulaSlots() int { return min(t.Slots, 4) }

// What a round of formulas takes at most, and the words that are uploaded for it.
const (
	formulaRange    = 8192 // RANGE in kernels/formula.cl
	formulaPage     = 128  // PAGE
	formulaOperands = 1 << 14
	formulaUpload   = 1 << 20
	formulaGroups   = 1 << 10                                              // of a round that is not short
	formulaGrowth   = 1 << 20                                              // bytes that a store keeps for a slot that grows
	formulaLocal    = (plan.MaxDepth+1)*formulaRange/8 + 8*formulaPage + 8 // bytes of local memory at most
)

// A formulaShape is how much memory a slot for formulas has.
type formulaShape struct {
	groups  int // of a round
	decoded int // words
	docs    int // of one expansion
}

// formulasLeast is what formulas take at least, in bytes.
func formulasLeast() uint64 { return leastFormulas.bytes() + formulaGrowth }

// mostFormulas and leastFormulas are the largest shape, and the smallest: one range.
var (
	mostFormulas  = formulaShape{groups: 1 << 16, decoded: 1 << 24, docs: 1 << 24}
	leastFormulas = formulaShape{groups: 1, decoded: decodeRound, docs: formulaRange}
)

// formulaShapeFor gives all slots so many bytes at most, in all: there are fewer of them
// before rounds get short. One slot of the smallest shape there always is.
func formulaShapeFor(t Tuning, most uint64) (f formulaShape, slots int) {
	f, slots = mostFormulas, t.formulaSlots()
	for uint64(slots)*f.bytes() > most {
		if slots > 1 && f.groups <= formulaGroups {
			slots--
		} else if !f.halve() {
			break
		}
	}
	return f, slots
}

// formulasMost is what formulas take of so much memory at most, in bytes, but for one that
// grows.
func (b *Backend) formulasMost(memory uint64) uint64 {
	return min(b.dev.info.Memory/256, memory/8)
}

// halve makes the shape smaller; false if there is none.
func (f *formulaShape) halve() bool {
	if *f == leastFormulas {
		return false
	}
	f.groups, f.decoded, f.docs = f.groups/2, f.decoded/2, max(f.docs/2, formulaRange)
	return true
}

func (f formulaShape) bytes() uint64 {
	return 4 * uint64(f.groups*(formulaRange/32+1)+f.decoded+f.docs+formulaUpload+16)
}

// tooLarge is a formula that no round can hold.
func (b *Backend) tooLarge(why error) error {
	return &plan.DeviceError{Kind: plan.ErrTooLarge, Device: b.dev.String(), Op: "evaluating a formula", Err: why}
}

// setLocal is the size of a work-group of the kernels of formula.cl.
func (t Tuning) setLocal() int {
	if t.Serial {
		return 1
	}
	return cmp.Or(t.SetWG, 128)
}
