package bench

import (
	"context"
	"errors"
	"sync"
	"time"

	"heddle/engine"
	"heddle/engine/plan"
)

// costs measures what a batch costs: its response time alone on the device, and
// on a device, kernels and transfers by its own clock, and the bytes that its
// kernels ask for. Each has its own index, since each slows the others.
func (b *listsBench) costs(ctx context.Context, src *plan.Source, backend string, cells []cell) error {
	if len(cells) == 0 {
		return nil
	}
	qs := b.queries[:cells[0].queries]
	if err := b.each(ctx, src, backend, engine.Options{Workers: 1}, cells, func(x *engine.Index, c *cell) (err error) {
		c.response, err = response(ctx, x, qs, c.algorithm, c.threshold)
		return err
	}); err != nil || backend == "host" {
		return err
	}
	if err := b.each(ctx, src, backend, engine.Options{Workers: 1, Profiling: true}, cells, func(x *engine.Index, c *cell) (err error) {
		if c.peak, err = b.peak(ctx, x); err == nil {
			c.stats, err = total(ctx, x, qs, c.algorithm)
		}
		return err
	}); err != nil {
		return err
	}
	return b.each(ctx, src, backend, engine.Options{CountLoads: true}, cells, func(x *engine.Index, c *cell) error {
		s, err := total(ctx, x, qs, c.algorithm)
		c.moved = s.BytesMoved
		return err
	})
}

// each opens an index and calls f for every cell.
func (b *listsBench) each(ctx context.Context, src *plan.Source, backend string, opt engine.Options, cells []cell, f func(*engine.Index, *cell) error) error {
	x, err := b.open(ctx, src, backend, opt)
	if err != nil {
		return err
	}
	for i := range cells {
		if err = f(x, &cells[i]); err != nil {
			break
		}
	}
	return errors.Join(err, x.Close())
}

// response is the time from terms to docIDs of a batch, in milliseconds, on an
// index of one worker: nothing else runs. What the engine leaves over when it
// cuts queries into batches of threshold candidates does not count.
func response(ctx context.Context, x *engine.Index, qs []engine.Query, a plan.Algorithm, threshold uint64) (summary, error) {
	var whole, all []float64
	last := time.Now()
	err := x.SearchBatches(ctx, qs, engine.SearchOptions{Algorithm: a}, func(_ int, r *plan.Results) error {
		now := time.Now()
		all = append(all, now.Sub(last).Seconds()*1e3)
		if r.Stats.Candidates >= threshold/2 {
			whole = append(whole, all[len(all)-1])
		}
		last = now
		return nil
	})
	if len(whole) == 0 {
		whole = all // fewer queries than one batch takes
	}
	return summarize(whole), err
}

// total sums the statistics of all batches of a run, after a run that warms up.
func total(ctx context.Context, x *engine.Index, qs []engine.Query, a plan.Algorithm) (plan.Stats, error) {
	var sum plan.Stats
	for range 2 {
		sum = plan.Stats{}
		var mu sync.Mutex
		err := x.SearchBatches(ctx, qs, engine.SearchOptions{Algorithm: a}, func(_ int, r *plan.Results) error {
			mu.Lock()
			defer mu.Unlock()
			sum.Add(r.Stats)
			return nil
		})
		if err != nil {
			return sum, err
		}
	}
	return sum, nil
}
