package engine

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"heddle/engine/plan"
	"heddle/engine/table/column"
)

// costs are what a device and the host beside it take for work.
type costs struct {
	device           *running[plan.TableStore]
	onDevice, onHost costModel
	missed           [2]corrections // of the device, of the host
}

// estimate is what the device and the host should take for w, by what they took so far.
func (c *costs) estimate(w *work) (device, host time.Duration) {
	class := w.class()
	by := func(m costModel, at int) time.Duration {
		return time.Duration(1e9 * m.seconds(*w) * c.missed[at].ratio(class))
	}
	return by(c.onDevice, 0), by(c.onHost, 1)
}

// learn takes note of what one of them took for w.
func (c *costs) learn(w *work, onHost bool, took time.Duration) {
	class := w.class()
	model, at := c.onDevice, 0
	if onHost {
		model, at = c.onHost, 1
	}
	c.missed[at].learn(class, model.time(*w), took)
	c.missed[1-at].forget(class)
}

// choose gives the device or, where it is there too, the host that is to run s. Where
// estimates decide that, it sets w and gives the costs, which learn what w took.
func (t *Table) choose(ctx context.Context, s *plan.SelectBatch, w *work) (*running[plan.TableStore], *costs, error) {
	device := t.active.Load()
	if t.spare == nil || device == t.spare {
		return device, nil, nil
	}
	if s.Strategy != plan.StrategyAuto {
		host := slices.Contains(t.spare.store.Strategies(), s.Strategy)
		switch onDevice := slices.Contains(device.store.Strategies(), s.Strategy); {
		case host && !onDevice:
			return t.spare, nil, nil
		case !host:
			return device, nil, nil
		}
	}
	if err := s.Validate(t.t); err != nil { // before its work is looked at
		return nil, nil, err
	}
	c, err := t.fit(ctx, device)
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		// The run will say what is wrong with the device, and go on elsewhere.
		return device, nil, nil
	}
	*w = t.work(s)
	if onDevice, onHost := c.estimate(w); onHost <= onDevice {
		return t.spare, c, nil
	}
	return device, c, nil
}

// fit measures the costs of a device and of the host, once.
func (t *Table) fit(ctx context.Context, device *running[plan.TableStore]) (*costs, error) {
	if c := t.costs.Load(); c != nil && c.device == device {
		return c, nil
	}
	select {
	case t.fitting <- struct{}{}:
		defer func() { <-t.fitting }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c := t.costs.Load(); c != nil && c.device == device {
		return c, nil
	}
	c := &costs{device: device}
	for _, m := range []struct {
		store plan.TableStore
		model *costModel
	}{{device.store, &c.onDevice}, {t.spare.store, &c.onHost}} {
		var err error
		if *m.model, err = t.measure(ctx, m.store); err != nil {
			return nil, err
		}
	}
	t.log.Info().Stringer("device", c.onDevice).Stringer("host", c.onHost).Msg("costs of selections")
	t.costs.Store(c)
	return c, nil
}

// measure fits a model to what a store takes for some ORs of vectors: of few words and
// of many, few vectors and many, one selection and several, with a check and with rows
// as bits.
func (t *Table) measure(ctx context.Context, store plan.TableStore) (costModel, error) {
	var seen []sample
	for _, s := range t.probes() {
		var out plan.Rows
		if err := store.Select(ctx, s, &out); err != nil { // what is made once is made now
			return costModel{}, err
		}
		least, spent := time.Duration(math.MaxInt64), time.Duration(0)
		for run := 0; run < probeRuns && (run < 2 || spent < probeTime); run++ {
			start := time.Now()
			if err := store.Select(ctx, s, &out); err != nil {
				return costModel{}, err
			}
			took := time.Since(start)
			least, spent = min(least, took), spent+took
		}
		seen = append(seen, sample{t.work(s), least})
	}
	return fitCosts(seen), nil
}

const (
	probeRuns  = 15                    // of each batch that is measured, at most; the least time counts
	probeTime  = 10 * time.Millisecond // after which two runs will do
	probeBytes = 32 << 20              // of words that one reads
)

// probes are the batches that measure runs.
func (t *Table) probes() []*plan.SelectBatch {
	vectors := make([]uint32, len(t.t.Vectors))
	for v := range vectors {
		vectors[v] = uint32(v)
	}
	slices.SortFunc(vectors, func(a, b uint32) int { return cmp.Compare(t.t.Vectors[a].Words, t.t.Vectors[b].Words) })
	if len(vectors) == 0 {
		return nil
	}
	most := vectors // the greatest
	if len(most) > 32 {
		most = most[len(most)-32:]
	}
	for len(most) > 1 && t.t.VectorBytes(most) > probeBytes {
		most = most[1:]
	}
	least := vectors[:min(len(vectors), 32)]
	or := func(output plan.Output, times int, v ...uint32) *plan.SelectBatch {
		s := &plan.SelectBatch{Output: output}
		for range times {
			s.Any(v...)
			s.End()
		}
		return s
	}
	all := []*plan.SelectBatch{
		or(plan.OutputCounts, 1, least[0]),
		or(plan.OutputCounts, 8, least[0]),
		or(plan.OutputCounts, 1, least...),
		or(plan.OutputCounts, 1, most[len(most)-1]),
		or(plan.OutputCounts, 1, most[len(most)/2:]...),
		or(plan.OutputCounts, 1, most...),
		or(plan.OutputBits, 1, least[0]),
	}
	dense, sparse := -1, -1 // columns: of the vector with the most rows a word, and the fewest
	share := func(i int) float64 {
		v := t.columns[i].Vector
		return t.vectorRows[v] / float64(t.t.Vectors[v].Words)
	}
	for i := range t.columns {
		if t.columns[i].Vectors() == 0 || t.t.Rows == 0 {
			continue
		}
		if dense < 0 || share(i) > share(dense) {
			dense = i
		}
		if sparse < 0 || share(i) < share(sparse) {
			sparse = i
		}
	}
	for _, i := range slices.Compact([]int{dense, sparse}) {
		if i >= 0 {
			s := &plan.SelectBatch{Output: plan.OutputCounts}
			s.Any(t.columns[i].Vector)
			s.Check(uint32(i), plan.CodeRange{Hi: ^uint64(0)})
			s.End()
			all = append(all, s)
		}
	}
	return all
}

// work is what a batch asks of a store.
func (t *Table) work(s *plan.SelectBatch) work {
	w := work{workCall: 1, workSelection: float64(s.Len())}
	for i := range s.Len() {
		rows, places := t.checked(s, i)
		w[workCheck] += rows
		w[workPlace] += places
	}
	w[workVector] = float64(len(s.Operands))
	w[workByte] = float64(t.t.VectorBytes(s.Operands))
	if s.Output == plan.OutputBits {
		w[workRow] = w[workSelection] * float64(t.t.Rows)
	}
	return w
}

// checked is the number of rows that selection i checks, at most, and in how many places
// they lie: rows of a fill are one run, and near one another.
func (t *Table) checked(s *plan.SelectBatch, i int) (rows, places float64) {
	type set struct{ rows, words float64 }
	stack := make([]set, 0, plan.MaxSets)
	all := float64(t.t.Rows)
	for _, x := range s.Selection(i) {
		n := len(stack) - 1
		switch x.Code {
		case plan.StepAny:
			var sum set
			for _, v := range s.Operands[x.From:x.To] {
				sum.rows += t.vectorRows[v]
				sum.words += float64(t.t.Vectors[v].Words)
			}
			stack = append(stack, set{min(sum.rows, all), sum.words})
		case plan.StepNot:
			stack[n].rows = all - stack[n].rows
		case plan.StepCheck:
			rows += stack[n].rows
			places += min(stack[n].rows, stack[n].words)
		default:
			a, b := stack[n-1], stack[n]
			stack = stack[:n]
			switch x.Code {
			case plan.StepAnd:
				a.rows = min(a.rows, b.rows)
			case plan.StepOr:
				a.rows = min(a.rows+b.rows, all)
			}
			stack[n-1] = set{a.rows, a.words + b.words}
		}
	}
	return rows, places
}

// vectorRows says how many rows the vectors of columns have.
func vectorRows(t *plan.Table, columns []column.Column) []float64 {
	rows := make([]float64, len(t.Vectors))
	for i := range columns {
		for k, n := range columns[i].VectorRows() {
			rows[columns[i].Vector+uint32(k)] = float64(n)
		}
	}
	return rows
}
