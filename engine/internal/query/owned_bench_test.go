package query

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"heddle/engine/internal/cputime"
	"heddle/engine/plan"
	"heddle/hostfallback"
	"heddle/hostfallback/phrase"
)

// readyStore is a store that has the lists of all phrases, in the order of a batch.
type readyStore struct {
	plan.Store
	made []*plan.Made
}

func (s *readyStore) PhraseDocuments() uint64 { return 0 }

func (s *readyStore) Phrases(context.Context, []*plan.Phrase, *plan.Stats) ([]*plan.Made, error) {
	return s.made, nil
}

// BenchmarkOwned answers batches of 4,096 phrases of frequent and of rarer words. Their lists are ready, as those of a device. It reports CPU time.
func BenchmarkOwned(b *testing.B) {
	x := zipfText(b, text{docs: 200_000})
	host := hostfallback.New(hostfallback.Options{})
	defer host.Close()
	s, err := host.Load(b.Context(), x.Source)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for _, ranks := range [][2]int{{2, 20}, {20, 200}, {200, 2000}} {
		texts := phrasesOf(`"%d %d"`, 2, 256, ranks[0], ranks[1])
		ready := &readyStore{Store: s}
		documents := 0
		for _, text := range texts {
			var a, c plan.Handle
			if _, err := fmt.Sscanf(text, `"%d %d"`, &a, &c); err != nil {
				b.Fatal(err)
			}
			made := new(plan.Made)
			p := plan.Phrase{Slots: []plan.Slot{{Lists: []plan.Handle{a}}, {Offset: 1, Lists: []plan.Handle{c}}}}
			if err := phrase.Make(b.Context(), x.Source, &p, nil, made); err != nil {
				b.Fatal(err)
			}
			documents += len(made.Docs)
			ready.made = append(ready.made, made)
		}
		texts, ready.made = slices.Repeat(texts, 16), slices.Repeat(ready.made, 16)
		fmt.Printf("ranks %d to %d: %d documents a phrase\n", ranks[0], ranks[1], documents/256)
		for _, kind := range []struct {
			name string
			opt  Options
		}{{"docs", Options{}}, {"count", Options{CountOnly: true}}, {"top10", Options{K: 10}}} {
			for _, threads := range []int{1, runtime.GOMAXPROCS(0)} {
				b.Run(kind.name+"/"+strconv.Itoa(ranks[0])+"-"+strconv.Itoa(ranks[1])+"/"+strconv.Itoa(threads), func(b *testing.B) {
					q := batchOf(b, x, texts, kind.opt)
					q.Threads = threads
					before := cputime.Total()
					for b.Loop() {
						if err := q.Run(b.Context(), ready, 0); err != nil {
							b.Fatal(err)
						}
					}
					after := cputime.Total()
					b.ReportMetric(float64((after-before).Nanoseconds())/float64(b.N*len(texts)), "cpu-ns/query")
				})
			}
		}
	}
}
