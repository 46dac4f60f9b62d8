package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"heddle/engine/plan"
)

const (
	wideRows  = 1 << 20
	wideMost  = 4096
	wideEvery = 100 // rows between the ones of a vector, on average
)

// runWide puts the time of the strategies of devices over the number of columns.
func runWide(ctx context.Context, s *session) error {
	rows := pick(&s.opt, []uint32{wideRows}, []uint32{wideRows / 16})[0]
	t := &plan.Table{Rows: rows}
	vectors := make([]vectorWords, wideMost)
	err := parallel(ctx, len(vectors), func(_ *scratch, i int) error {
		r := rand.New(rand.NewPCG(s.opt.Seed, uint64(i)))
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
	set := newBitmapSet("wide", t, s.opt.Seed)
	for _, who := range s.contestants {
		if who.device == nil {
			continue
		}
		st, _, err := s.bitmapStore(ctx, who, s.opt.Threads, t)
		if errors.Is(err, plan.ErrUnsupported) {
			s.logf("%s left out: %v", who, err)
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

func (s *session) putWide(ctx context.Context, who contestant, st plan.TableStore, set *bitmapSet) error {
	out := new(plan.Rows)
	for _, m := range pick(&s.opt, []int{2, 16, 64, 256, 1024, 2048, 4096}, []int{2, 64, 2048}) {
		first := uint32(0)
		for i, strategy := range st.Strategies() {
			q := set.query(m)
			q.Strategy, q.Output = strategy, plan.OutputResident
			time, err := s.timed(func() error { return st.Select(ctx, q, out) })
			if errors.Is(err, plan.ErrOutOfMemory) {
				s.logf("%s of %d columns left out: %v", strategy, m, err)
				continue
			}
			if err != nil {
				return fmt.Errorf("%s of %d columns: %w", strategy, m, err)
			}
			if i == 0 {
				first = out.Counts[0]
			} else if out.Counts[0] != first {
				return fmt.Errorf("%s of %d columns: %d rows, %s has %d", strategy, m, out.Counts[0], st.Strategies()[0], first)
			}
			r := reading{panel: who.String(), series: strategy.String(), at: fmt.Sprint(m), x: float64(m),
				Row: time.into(Row{Workload: "wide", Metric: "time", Unit: "µs", Bytes: set.table.VectorBytes(set.picks[:m])})}
			if err := s.put(who.on(r)); err != nil {
				return err
			}
		}
	}
	return nil
}
