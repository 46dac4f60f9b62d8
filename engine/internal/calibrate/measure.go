package calibrate

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"heddle/engine/internal/cost"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/query"
)

// measurer times queries of a kind on a processor.
type measurer struct {
	ctx   context.Context
	at    *lists.Target
	kind  query.Kind
	tasks []*task
	time  time.Duration
	batch *query.Batch
}

const (
	aloneRounds = 9 // greatest number of rounds of all queries
	// LeastTasks and LeastBatches run even if they exceed the time.
	LeastTasks   = 60
	LeastBatches = 18
	batchRounds  = 5
	mostBatches  = 300
	mostBatch    = 256 // queries
)

// run runs tasks as one batch. It returns the time, with the copy of the answers.
func (m *measurer) run(tasks ...*task) (time.Duration, error) {
	began := time.Now()
	m.batch.Reset(&m.kind)
	for _, t := range tasks {
		m.batch.Adopt(t.batch)
	}
	if err := m.batch.Run(m.ctx, m.at.Store, m.at.Processor.Index); err != nil {
		return 0, err
	}
	for i := range tasks {
		_, docs, scores := m.batch.Hits(i)
		_, _ = slices.Clone(docs), slices.Clone(scores)
	}
	return time.Since(began), nil
}

// features returns the features of a task as they are now; false if it cannot run here.
func (m *measurer) features(t *task) (f cost.Features, ok bool) {
	f, ok = t.features, true
	if m.at.Cached != nil {
		f.Missing, ok = m.at.Cached.Missing(t.lists, m.kind.Ranked())
	}
	return f, ok
}

// alone runs each task by itself, round after round, so that the processor caches do not
// favour a repeated task. It returns a sample of each task, another one of each task that
// had to load lists, and the times by task, 0 where a task did not run.
func (m *measurer) alone() (samples []cost.Sample, times []time.Duration, err error) {
	tasks, seen := m.tasks, make([][]time.Duration, len(m.tasks))
	began := time.Now()
	for round := 0; round <= aloneRounds && (round < 3 || time.Since(began) < m.time); round++ {
		for i, t := range tasks {
			if round == 0 && i >= LeastTasks && time.Since(began) > m.time/3 {
				tasks = tasks[:i]
				break
			}
			f, ok := m.features(t)
			if !ok {
				continue
			}
			took, err := m.run(t)
			if err == nil && f.Missing > 0 { // the lists are resident now
				samples = append(samples, cost.Sample{Queries: []cost.Features{f}, Took: took})
				took, err = m.run(t)
			}
			if err != nil {
				return nil, nil, err
			}
			if round > 0 { // the first round warms up
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

// batches runs tasks in batches, round after round.
func (m *measurer) batches() (samples []cost.Sample, err error) {
	all := m.groups()
	seen := make([][]time.Duration, len(all))
	began := time.Now()
	for round := 0; round <= batchRounds && (round < 3 || time.Since(began) < m.time); round++ {
		for i, tasks := range all {
			if round == 0 && i >= LeastBatches && time.Since(began) > m.time/3 {
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

// groups draws tasks for batches of two up to the threshold of the processor: every other
// batch of similar load, the rest of any load. It leaves out tasks with missing lists.
func (m *measurer) groups() (all [][]*task) {
	var tasks []*task
	for _, t := range m.tasks {
		if f, ok := m.features(t); ok && f.Missing == 0 {
			tasks = append(tasks, t)
		}
	}
	if len(tasks) < 2 {
		return nil
	}
	like := slices.SortedFunc(slices.Values(tasks), func(a, b *task) int { return cmp.Compare(a.load, b.load) })
	r := rand.New(rand.NewPCG(2, 0))
	for n := range mostBatches {
		size := int(math.Exp2(1 + r.Float64()*math.Log2(mostBatch/2)))
		from, first := tasks, 0
		if n%2 == 0 {
			from, first = like, r.IntN(len(like))
			from = from[first:min(first+1+len(like)/10, len(like))]
		}
		var batch []*task
		for load := uint64(0); len(batch) < size && load < m.at.Threshold(&m.kind); {
			t := from[r.IntN(len(from))]
			batch, load = append(batch, t), load+t.load
		}
		all = append(all, batch)
	}
	return all
}

// typical returns the first quartile: other work on the machine only makes runs slower.
func typical(each []time.Duration) time.Duration {
	slices.Sort(each)
	return each[(len(each)-1)/4]
}
