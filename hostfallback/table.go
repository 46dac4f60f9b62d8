package hostfallback

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"time"

	"heddle/codec/wah"
	"heddle/engine/plan"
)

// table implements plan.TableStore on the words of its table, where they are.
type table struct {
	t   *plan.Table
	opt Options

	mu     sync.RWMutex // held for reading by every batch, for writing by Close
	closed bool
}

var _ plan.TableStore = (*table)(nil)

// LoadTable checks the descriptors of t. Its words are used where they are.
func (b *Backend) LoadTable(ctx context.Context, t *plan.Table) (plan.TableStore, error) {
	if b.closed.Load() {
		return nil, &plan.DeviceError{Kind: plan.ErrClosed, Device: "host", Op: "load"}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := t.Validate(); err != nil {
		return nil, err
	}
	return &table{t: t, opt: b.opt}, nil
}

// Select implements plan.TableStore.
func (s *table) Select(ctx context.Context, sel *plan.Selections, out *plan.Rows) error {
	start := time.Now()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return &plan.DeviceError{Kind: plan.ErrClosed, Device: "host", Op: "select"}
	}
	if err := sel.Validate(s.t); err != nil {
		return err
	}
	if sel.Strategy != plan.StrategyAuto && !slices.Contains(s.Strategies(), sel.Strategy) {
		return fmt.Errorf("host: strategy %v: %w", sel.Strategy, plan.ErrUnsupported)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	*out = plan.Rows{Stride: wah.Bitset(uint64(s.t.Rows))}
	for i := range sel.Len() {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows, err := s.one(sel, sel.Selection(i))
		if err != nil {
			return err
		}
		n := 0
		for _, w := range rows {
			n += bits.OnesCount64(w)
		}
		out.Counts = append(out.Counts, uint32(n))
		if sel.Output == plan.OutputBits {
			out.Bits = append(out.Bits, rows...)
		}
	}
	out.Stats.Queries = uint64(sel.Len())
	for _, n := range out.Counts {
		out.Stats.Matches += uint64(n)
	}
	out.Stats.Wall = max(time.Since(start), 1)
	return nil
}

func (s *table) one(sel *plan.Selections, steps []plan.Step) ([]uint64, error) {
	n := wah.Bitset(uint64(s.t.Rows))
	var stack [][]uint64
	for _, x := range steps {
		switch x.Code {
		case plan.StepAny:
			set, one := make([]uint64, n), make([]uint64, n)
			for _, v := range sel.Operands[x.From:x.To] {
				var err error
				if s.t.Word() == 64 {
					err = wah.Decompress(one, s.t.Vector64(v), uint64(s.t.Rows))
				} else {
					err = wah.Decompress(one, s.t.Vector32(v), uint64(s.t.Rows))
				}
				if err != nil {
					return nil, fmt.Errorf("vector %d: %w", v, err)
				}
				for i, w := range one {
					set[i] |= w
				}
			}
			stack = append(stack, set)
		case plan.StepNot:
			set := stack[len(stack)-1]
			for i := range set {
				set[i] = ^set[i]
			}
			if r := s.t.Rows % 64; r != 0 {
				set[n-1] &= 1<<r - 1
			}
		case plan.StepCheck:
			if err := s.check(stack[len(stack)-1], x.Column, sel.Ranges[x.From:x.To]); err != nil {
				return nil, err
			}
		default:
			a, b := stack[len(stack)-2], stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for i := range a {
				switch x.Code {
				case plan.StepAnd:
					a[i] &= b[i]
				case plan.StepOr:
					a[i] |= b[i]
				case plan.StepAndNot:
					a[i] &^= b[i]
				}
			}
		}
	}
	if len(stack) == 0 {
		return make([]uint64, n), nil
	}
	return stack[0], nil
}

// check removes from set the rows whose code lies in none of ranges.
func (s *table) check(set []uint64, column uint32, ranges []plan.CodeRange) error {
	low, high, err := s.t.Codes(column)
	if err != nil {
		return err
	}
	for i, w := range set {
		for ; w != 0; w &= w - 1 {
			row := uint32(64*i + bits.TrailingZeros64(w))
			lo, err := low.At(row)
			if err != nil {
				return fmt.Errorf("values of column %d: %w", column, err)
			}
			code := uint64(lo)
			if high.Len > 0 {
				hi, err := high.At(row)
				if err != nil {
					return fmt.Errorf("values of column %d: %w", column, err)
				}
				code |= uint64(hi) << 32
			}
			in := false
			for _, r := range ranges {
				in = in || r.Lo <= code && code <= r.Hi
			}
			if !in {
				set[i] &^= w & -w
			}
		}
	}
	return nil
}

// Strategies implements plan.TableStore.
func (s *table) Strategies() []plan.Strategy { return []plan.Strategy{plan.Fused} }

// Explain implements plan.TableStore.
func (s *table) Explain(sel *plan.Selections, i int) string { return "fused" }

// Memory implements plan.TableStore: the words of the table.
func (s *table) Memory() uint64 {
	return 4*uint64(len(s.t.Words32)+len(s.t.Packed)) + 8*uint64(len(s.t.Words64))
}

// Close waits for running batches.
func (s *table) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}
