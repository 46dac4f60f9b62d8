package engine

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"heddle/engine/internal/cost"
	"heddle/engine/plan"
)

// measurer times queries of a kind on a processor, as it runs them when it is asked to.
type measurer struct {
	ctx   context.Context
	p     *processor
	k     taskKind
	tasks []*task
	time  time.Duration
	w     *worker
}

const (
	aloneRounds  = 9  // of all queries, at most
	leastTasks   = 60 // that run whatever it takes
	batchRounds  = 5
	leastBatches = 18
	mostBatches  = 300
	mostBatch    = 256 // queries
)

// run runs tasks as one batch and says how long that took, the copying of answers
// included.
func (m *measurer) run(tasks ...*task) (time.Duration, error) {
	began := time.Now()
	m.k.reset(m.p.g.x, m.w)
	for _, t := range tasks {
		m.w.adopt(&m.k, t.w)
	}
	if err := m.k.answer(m.ctx, m.w, m.p.store); err != nil {
		return 0, err
	}
	for i, t := range tasks {
		t.take(m.w, i)
	}
	took := time.Since(began)
	for _, t := range tasks { // all answers together may be many
		t.docs, t.scores = nil, nil
	}
	return took, nil
}

// alone runs every task by itself, round after round, so that what one leaves in caches
// is no help to the next run of the same. It returns a sample of each, and more of those
// that lists had to be brought in for; and by task what it took, 0 where it did not run.
func (m *measurer) alone() (samples []cost.Sample, times []time.Duration, err error) {
	tasks, seen := m.tasks, make([][]time.Duration, len(m.tasks))
	began := time.Now()
	for round := 0; round <= aloneRounds && (round < 3 || time.Since(began) < m.time); round++ {
		for i, t := range tasks {
			if round == 0 && i >= leastTasks && time.Since(began) > m.time/3 {
				tasks = tasks[:i]
				break
			}
			f, ok := m.p.features(t)
			if !ok {
				continue
			}
			took, err := m.run(t)
			if err == nil && f.Missing > 0 { // it is there now
				samples = append(samples, cost.Sample{Queries: []cost.Features{f}, Took: took})
				took, err = m.run(t)
			}
			if err != nil {
				return nil, nil, err
			}
			if round > 0 { // what is made on first use is there
				seen[i] = append(seen[i], took)
			}
		}
	}
	times = make([]time.Duration, len(m.tasks))
	for i, each := range seen {
		if len(each) > 0 {
			times[i] = typical(each)
			samples = append(samples, cost.Sample{Queries: []cost.Features{m.tasks[i].features}, Took: times[i]})
		}
	}
	return samples, times, nil
}

// batches runs tasks together, round after round like alone.
func (m *measurer) batches() (samples []cost.Sample, err error) {
	all := m.groups()
	seen := make([][]time.Duration, len(all))
	began := time.Now()
	for round := 0; round <= batchRounds && (round < 3 || time.Since(began) < m.time); round++ {
		for i, tasks := range all {
			if round == 0 && i >= leastBatches && time.Since(began) > m.time/3 {
				all = all[:i]
				break
			}
			took, err := m.run(tasks...)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				seen[i] = append(seen[i], took)
			}
		}
	}
	for i, tasks := range all {
		s := cost.Sample{Took: typical(seen[i])}
		for _, t := range tasks {
			s.Queries = append(s.Queries, t.features)
		}
		samples = append(samples, s)
	}
	return samples, nil
}

// groups draws tasks for batches of two to as many as the processor takes at a time: every
// other one of like load, the rest of any. Tasks whose lists are missing are left out.
func (m *measurer) groups() (all [][]*task) {
	var tasks []*task
	for _, t := range m.tasks {
		if f, ok := m.p.features(t); ok && f.Missing == 0 {
			tasks = append(tasks, t)
		}
	}
	if len(tasks) < 2 {
		return nil
	}
	like := slices.SortedFunc(slices.Values(tasks), func(a, b *task) int { return cmp.Compare(a.job.Load, b.job.Load) })
	r := rand.New(rand.NewPCG(2, 0))
	for n := range mostBatches {
		size := int(math.Exp2(1 + r.Float64()*math.Log2(mostBatch/2)))
		from, first := tasks, 0
		if n%2 == 0 {
			from, first = like, r.IntN(len(like))
			from = from[first:min(first+1+len(like)/10, len(like))]
		}
		var batch []*task
		for load := uint64(0); len(batch) < size && load < m.p.threshold(&m.k); {
			t := from[r.IntN(len(from))]
			batch, load = append(batch, t), load+t.job.Load
		}
		all = append(all, batch)
	}
	return all
}

// typical is the first quartile: neighbours on the machine make runs slower only.
func typical(each []time.Duration) time.Duration {
	slices.Sort(each)
	return each[(len(each)-1)/4]
}

// drawQueries makes queries of one term to six of the index, whose lengths are even by
// their logarithm. They are the same ones every time.
func drawQueries(x *Index) ([]Query, error) {
	names, ok := x.dict.(interface{ Term(h plan.Handle) string })
	if !ok {
		return nil, errors.New("queries are missing, and the dictionary cannot name terms to draw some")
	}
	var byLength []plan.Handle
	for h, l := range x.src.Lists {
		if l.Len > 0 {
			byLength = append(byLength, plan.Handle(h))
		}
	}
	if len(byLength) == 0 {
		return nil, errors.New("the index has no postings to draw queries from")
	}
	slices.SortFunc(byLength, func(a, b plan.Handle) int { return plan.ByLength(x.src, a, b) })
	longest := x.src.Lists[byLength[len(byLength)-1]].Len
	position := func(length float64) int {
		at, _ := slices.BinarySearchFunc(byLength, length, func(h plan.Handle, want float64) int {
			return cmp.Compare(float64(x.src.Lists[h].Len), want)
		})
		return min(at, len(byLength)-1)
	}
	r := rand.New(rand.NewPCG(1, 0))
	qs := make([]Query, drawn)
	for i := range qs {
		for range 1 + r.IntN(6) {
			length := math.Exp2(r.Float64() * math.Log2(float64(longest)))
			at := position(length)
			at += r.IntN(1 + position(1.2*length) - at) // one of those that are about as long
			qs[i].Terms = append(qs[i].Terms, names.Term(byLength[at]))
		}
	}
	return qs, nil
}

const drawn = 2000 // queries
