package engine

import (
	"reflect"
	"runtime"
	"testing"

	"heddle/engine/plan/testneeds"
)

// TestMemory gives each answer to the next query as memory. The answers are those of queries
// without memory, from the cache of results and from processors.
func TestMemory(t *testing.T) {
	c := testCorpus()
	opt := backendOptions(t)
	opt.Results = 1 << 20
	x := openFile(t, opt)
	var memory Hits
	reused, ranked := 0, 0
	for i := range 400 {
		n := 1 + i%3
		q := Query{Terms: c.terms[i*7%(len(c.terms)-n):][:n], Match: [...]Match{And, Or}[i%2], CountOnly: i%11 == 3, Fresh: i%3 == 0}
		if !q.CountOnly && i%5 == 1 {
			q.K = 1 + i%20
		}
		want, err := x.Search(t.Context(), q)
		if err != nil {
			if CodeOf(err) == Unsupported { // an index without frequencies
				continue
			}
			t.Fatal(err)
		}
		q.Memory = &memory
		room := cap(memory.Docs) > 0 && cap(memory.Docs) >= len(want.Docs) && len(want.Docs) > 0
		got, err := x.Search(t.Context(), q)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("query %d: %d docIDs, %v, without memory %d", i, len(got.Docs), err, len(want.Docs))
		}
		if room {
			reused++
			if &got.Docs[0] != &memory.Docs[:1][0] {
				t.Errorf("query %d: an answer of %d docIDs is not in memory for %d", i, len(got.Docs), cap(memory.Docs))
			}
		}
		if q.K > 0 {
			ranked++
		}
		if got.Docs != nil {
			memory = got
		}
	}
	if reused < 100 {
		t.Errorf("%d answers in the memory of earlier ones, %d ranked", reused, ranked)
	}
}

// TestMemoryIsOfTheCaller: a caller who overwrites the memory of an answer does not change the
// answers in the cache.
func TestMemoryIsOfTheCaller(t *testing.T) {
	c := testCorpus()
	opt := backendOptions(t)
	opt.Results = 1 << 20
	x := openFile(t, opt)
	for i, k := range []int{0, 5} {
		q := Query{Terms: c.terms[3+i:][:2], K: k, Fresh: true}
		want, err := x.Search(t.Context(), q)
		if err != nil || len(want.Docs) == 0 {
			t.Fatal(len(want.Docs), err)
		}
		q.Fresh = false
		for ask := range 4 { // the cache takes an answer that was asked for before
			q.Memory = &Hits{Docs: make([]uint32, 0, len(want.Docs)), Scores: make([]float64, 0, len(want.Scores))}
			got, err := x.Search(t.Context(), q)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("k %d, search %d: %v, %v; want %v", k, ask, got, err, want)
			}
			clear(got.Docs)
			clear(got.Scores)
		}
	}
	if x.Stats().Results.Hits == 0 {
		t.Error("no answer came from the cache")
	}
}

// TestMemoryAllocations: answers with memory cost fewer bytes than their docIDs.
func TestMemoryAllocations(t *testing.T) {
	testneeds.OneCaller(t)
	skipRace(t)
	x := openFile(t, backendOptions(t))
	q := Query{Terms: []string{"t000"}, Memory: new(Hits)}
	ask := func() {
		h, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		*q.Memory = h
	}
	ask()
	const runs = 200
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		ask()
	}
	runtime.ReadMemStats(&after)
	bytes := int(after.TotalAlloc-before.TotalAlloc) / runs
	if docs := len(q.Memory.Docs); docs < 100 || bytes > 2*docs {
		t.Errorf("%d bytes for an answer of %d docIDs", bytes, docs)
	}
}
