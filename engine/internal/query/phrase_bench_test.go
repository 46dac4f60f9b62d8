package query

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"heddle/cl"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
	"heddle/hostfallback"
)

// phraseKinds are phrases and windows of words that fmt.Sprintf inserts.
var phraseKinds = []struct {
	name, format string
	words        int
	terms        int // of the last word: its list and those behind it
}{{"exact", `"%d %d"`, 2, 1}, {"slop", `"%d %d"~3`, 2, 1}, {"near", "NEAR/5(%d %d)", 2, 1}, {"ordered", "ORDERED/5(%d %d)", 2, 1}, {"near of three", "NEAR/20(%d %d %d)", 3, 1},
	{"exact of 10", `"%d %d"`, 2, 10}, {"near of 30", "NEAR/5(%d %d)", 2, 30}}

// phrasesOf draws phrases of words whose logarithms of ranks are equally likely from a rank to another one.
func phrasesOf(format string, words, n, from, to int) (all []string) {
	random := rand.New(rand.NewPCG(9, 9))
	word := func() int { return int(float64(from) * math.Pow(float64(to)/float64(from), random.Float64())) }
	for range n {
		var some []any
		for range words {
			some = append(some, word())
		}
		all = append(all, fmt.Sprintf(format, some...))
	}
	return all
}

// BenchmarkPhrases answers phrases and windows, in batches and alone, on the device of the tests and in pure Go, on one core and on all, and
// compares the answers. HEDDLE_PHRASE_DOCS is the number of documents.
func BenchmarkPhrases(b *testing.B) {
	device := testneeds.Device(b)
	docs := 20_000
	if n, err := strconv.Atoi(os.Getenv("HEDDLE_PHRASE_DOCS")); err == nil {
		docs = n
	}
	began := time.Now()
	x := zipfText(b, text{docs: docs})
	fmt.Printf("%d documents, %d postings, %d positions in %d bytes, made in %v\n", docs, x.Source.Postings(), x.Source.Positions.Values.Count, 4*len(x.Source.Positions.Values.Words), time.Since(began))
	devices, err := cl.Devices(device)
	if err != nil {
		b.Fatal(err)
	}
	gpu, err := cl.Open(b.Context(), devices[0], cl.Options{Profiling: os.Getenv("HEDDLE_PHRASE_PROFILE") != ""})
	if err != nil {
		b.Fatal(err)
	}
	defer gpu.Close()
	cpu := hostfallback.New(hostfallback.Options{Threads: 1})
	defer cpu.Close()
	rule := DeviceDocuments
	DeviceDocuments = func(plan.PhraseStore) uint64 { return 0 }
	defer func() { DeviceDocuments = rule }()
	stores := map[string]plan.Store{}
	for name, backend := range map[string]plan.Backend{"device": gpu, "host": cpu} {
		s, err := backend.Load(b.Context(), x.Source)
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		stores[name] = s
	}
	for _, ranks := range [][2]int{{20, 2000}, {200, 20000}, {2000, 100000}} {
		for _, kind := range phraseKinds {
			for name, opt := range map[string]Options{"docs": {}, "top10": {K: 10}} {
				answers := map[string]any{}
				for where, s := range stores {
					size, callers, threads := 4096, 2, 0
					if where == "host" {
						size, callers, threads = 16, runtime.GOMAXPROCS(0), 1
					}
					texts := phrasesOf(kind.format, kind.words, size, ranks[0], ranks[1])
					r := benchPhrases(b, x, s, texts, opt, callers, threads, kind.terms)
					fmt.Printf("%-13s %-6s ranks %d-%d %-5s %9.0f q/s (%.0f to %.0f), of %d callers %.0f, p50 alone %v; %s\n", kind.name, where, ranks[0], ranks[1], name,
						r.rate, r.least, r.most, callers, r.callers, r.alone, r.work)
					answers[where] = r.found
				}
				if !reflect.DeepEqual(answers["device"], answers["host"]) {
					b.Errorf("%s: %s of ranks from %d on differ", kind.name, name, ranks[0])
				}
			}
		}
	}
}

// batchOf is a batch of queries.
func batchOf(tb testing.TB, x *Index, texts []string, opt Options) *Batch {
	var set Settings
	if err := x.Settle(&set, &opt); err != nil {
		tb.Fatal(err)
	}
	all := new(Batch)
	all.Reset(&set.Kind)
	for _, text := range texts {
		one := new(Batch)
		one.Reset(&set.Kind)
		if _, err := one.Add(x, &Query{Text: text, Options: opt}, &set); err != nil {
			tb.Fatal(err)
		}
		all.Adopt(one)
	}
	return all
}

// phraseRates are queries a second in a batch of one caller, and of several callers.
type phraseRates struct {
	rate, least, most, callers float64
	alone                      time.Duration
	work                       string
	found                      []any // answers of 16 queries
}

// benchPhrases measures phrases on a store. The last word of a phrase has the lists of some terms.
func benchPhrases(b *testing.B, x *Index, s plan.Store, texts []string, opt Options, callers, threads, terms int) (r phraseRates) {
	batch := func(texts []string) *Batch {
		all := batchOf(b, x, texts, opt)
		for _, p := range all.owned {
			last := &p.phrases[0].Slots[len(p.phrases[0].Slots)-1]
			for h := last.Lists[0]; len(last.Lists) < terms; {
				h = (h + 1) % plan.Handle(len(x.Source.Lists))
				last.Lists = append(last.Lists, h)
			}
		}
		all.Threads = threads
		return all
	}
	run := func(q *Batch) time.Duration {
		began := time.Now()
		if err := q.Run(context.Background(), s, 0); err != nil {
			panic(err)
		}
		return time.Since(began)
	}
	run(batch(texts[:1]))
	var took, alone []time.Duration
	var last *Batch
	for range 5 {
		last = batch(texts)
		took = append(took, run(last))
	}
	for i := range 16 {
		alone = append(alone, run(batch(texts[i:i+1])))
	}
	all := make([][3]*Batch, callers)
	for i := range 3 * callers {
		all[i/3][i%3] = batch(texts)
	}
	var wg sync.WaitGroup
	began := time.Now()
	for i := range all {
		wg.Go(func() {
			for _, q := range all[i] {
				run(q)
			}
		})
	}
	wg.Wait()
	size := float64(len(texts))
	r.callers = 3 * size * float64(callers) / time.Since(began).Seconds()
	slices.Sort(took)
	slices.Sort(alone)
	r.rate, r.least, r.most, r.alone = size/took[2].Seconds(), size/took[4].Seconds(), size/took[0].Seconds(), alone[8]
	st, n := last.Stats(), uint64(len(texts))
	r.work = fmt.Sprintf("a query: %d candidates, %d positions, %d B down; decode %v find %v match %v",
		st.PhraseCandidates/n, st.Positions/n, st.BytesDown/n, st.Decode, st.Probe, st.Score)
	for i := range 16 {
		n, docs, scores := last.Hits(i)
		r.found = append(r.found, n, slices.Clone(docs), slices.Clone(scores))
	}
	return r
}
