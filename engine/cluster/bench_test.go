package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/internal/cputime"
)

// different returns n different queries of two words.
func different(n int) []engine.Query {
	r := rand.New(rand.NewPCG(1, 1))
	all, seen := make([]engine.Query, 0, n), map[string]bool{}
	for len(all) < n {
		if text := fmt.Sprintf("w%d w%d", 10+r.IntN(90), 10+r.IntN(90)); !seen[text] {
			seen[text] = true
			all = append(all, engine.Query{Text: text, K: 10})
		}
	}
	return all
}

// BenchmarkSearch measures the CPU time of different queries on 8 shards of 2 replicas in one
// process, alone and in batches of 1,000, and beside it of one index. The terms of a query are
// known to the coordinator, except in batches of a new coordinator. Ranking is the part of the batches
// that no cluster can spare: the same terms and statistics, ranked by each shard, without a join of answers.
func BenchmarkSearch(b *testing.B) {
	lines := corpus(4000)
	cuts := []int{}
	for i := range 9 {
		cuts = append(cuts, len(lines)*i/8)
	}
	m := place(b, newEngine(b), lines, cuts, 2)
	whole := openIndex(b, newEngine(b), lines)
	all := different(5000)
	var words []string
	for i := range 100 {
		words = append(words, fmt.Sprintf("w%d", i))
	}
	st, err := New(m, m, Options{}).Statistics(b.Context(), "x", words...)
	if err != nil {
		b.Fatal(err)
	}
	st.Shard = true
	lists := make([]engine.Query, len(all))
	for i, q := range all {
		lists[i] = engine.Query{Terms: strings.Fields(q.Text), K: q.K, Statistics: &st}
	}
	for _, test := range []struct {
		name string
		size int
	}{{"one", 1}, {"batch", 1000}, {"new", 1000}, {"ranking", 1000}, {"whole", 1000}} {
		b.Run(test.name, func(b *testing.B) {
			c := New(m, m, Options{})
			if _, _, err := c.SearchAll(b.Context(), "x", all, api.Ask{}); err != nil {
				b.Fatal(err)
			}
			began, at := cputime.Total(), 0
			for b.Loop() {
				batch := all[at : at+test.size]
				var err error
				switch test.name {
				case "whole":
					err = whole.SearchAll(b.Context(), batch, func(int, []engine.Hits) error { return nil })
				case "ranking":
					for i := range len(cuts) - 1 {
						if err := ranked(b.Context(), m, i, lists[at:at+test.size]); err != nil {
							b.Fatal(err)
						}
					}
				case "new":
					_, _, err = New(m, m, Options{}).SearchAll(b.Context(), "x", batch, api.Ask{})
				default:
					_, _, err = c.SearchAll(b.Context(), "x", batch, api.Ask{})
				}
				if err != nil {
					b.Fatal(err)
				}
				at = (at + test.size) % len(all)
			}
			b.ReportMetric(float64((cputime.Total()-began).Nanoseconds())/1e3/float64(b.N)/float64(test.size), "cpu-us/query")
		})
	}
}

// ranked answers a batch from one shard.
func ranked(ctx context.Context, m *machines, shard int, batch []engine.Query) error {
	x, _, err := m.all.OpenIndex("x", 1, shard)
	if err != nil {
		return err
	}
	return x.SearchAll(ctx, batch, func(int, []engine.Hits) error { return nil })
}

// BenchmarkSlow measures the times of different queries while one of two replicas is 100 ms late.
func BenchmarkSlow(b *testing.B) {
	m := place(b, newEngine(b), corpus(400), []int{0, 200, 400}, 2)
	c := New(m, m, Options{})
	m.set("n0", func(ctx context.Context) error {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
		return ctx.Err()
	})
	var times []time.Duration
	all := different(5000)
	for b.Loop() {
		began := time.Now()
		if _, _, err := c.Search(b.Context(), "x", all[len(times)%len(all)], api.Ask{}); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	for _, p := range []int{50, 99} {
		b.ReportMetric(float64(times[len(times)*p/100].Microseconds())/1e3, fmt.Sprintf("p%d-ms", p))
	}
}
