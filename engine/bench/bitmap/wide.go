package bitmap

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

const (
	wideRows  = 1 << 20
	wideMost  = 4096
	wideEvery = 100 // mean distance of the ones of a vector in rows
)

// runWide records the times of the device's strategies over the number of columns.
func (s *bench) runWide(ctx context.Context) error {
	rows := harness.Pick[uint32](&s.Opt, wideRows, wideRows/16)
	t := &plan.Table{Rows: rows}
	vectors := make([]vectorWords, wideMost)
	err := workload.Each(ctx, len(vectors), func(i int) error {
		r := rand.New(rand.NewPCG(s.Opt.Seed, uint64(i)))
		b := vectorBuilder{wide: true}
		for row := r.Uint64N(2 * wideEvery); row < uint64(rows); row += 1 + r.Uint64N(2*wideEvery) {
			b.add(row)
		}
		vectors[i] = b.end(uint64(rows))
		return nil
	})
	if err != nil {
		return err
	}
	addVectors(t, vectors, 64)
	set := newSet("wide", t, s.Opt.Seed)
	for _, who := range s.Contestants {
		if who.Device == nil {
			continue
		}
		st, _, err := s.store(ctx, who, s.Opt.Threads, t)
		if errors.Is(err, plan.ErrUnsupported) {
			s.Logf("%s left out: %v", who, err)
			continue
		}
		if err != nil {
			return err
		}
		if err = errors.Join(s.putWide(ctx, who, st, set), st.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (s *bench) putWide(ctx context.Context, who harness.Contestant, st plan.TableStore, set *set) error {
	out := new(plan.Rows)
	for _, m := range harness.Pick(&s.Opt, []int{2, 16, 64, 256, 1024, 2048, 4096}, []int{2, 64, 2048}) {
		first := uint32(0)
		for _, u := range wideSetups(st.Strategies()) {
			q := set.query(m)
			q.Strategy, q.Rescan, q.Output = u.strategy, u.rescan, plan.OutputResident
			time, err := s.Timed(func() error { return st.Select(ctx, q, out) })
			if errors.Is(err, plan.ErrOutOfMemory) {
				s.Logf("%s of %d columns left out: %v", u.name(), m, err)
				continue
			}
			if err != nil {
				return fmt.Errorf("%s of %d columns: %w", u.name(), m, err)
			}
			if first == 0 {
				first = out.Counts[0]
			} else if out.Counts[0] != first {
				return fmt.Errorf("%s of %d columns: %d rows, others have %d", u.name(), m, out.Counts[0], first)
			}
			r := harness.Reading{Panel: who.String(), Series: u.name(), At: fmt.Sprint(m), X: float64(m),
				Row: time.Into(measure.Row{Workload: "wide", Metric: "time", Unit: "µs", Bytes: set.table.VectorBytes(set.picks[:m])})}
			s.Put(who.On(r))
		}
	}
	return nil
}

// wideSetups returns each strategy, and again with scans anew if it decompresses.
func wideSetups(strategies []plan.Strategy) (all []setup) {
	for _, strategy := range strategies {
		all = append(all, setup{strategy: strategy})
		if decompresses(strategy) {
			all = append(all, setup{strategy: strategy, rescan: true})
		}
	}
	return all
}
