package hdl

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/file/container/containertest"
	"heddle/engine/file/mapped"
	"heddle/engine/plan"
)

// blocksSample is an index of four blocks of descriptors: lists that are inline, empty, with
// large frequencies, or in the sections.
func blocksSample() *sample {
	r := rand.New(rand.NewPCG(3, 9))
	s := &sample{meta: Meta{Docs: 500}, names: make([]string, 500), lens: make([]uint32, 500)}
	for i := range 3*listBlock + 5 {
		s.add(fmt.Sprintf("%03d", i), random(r, uint32(r.IntN(501)), 0, 1+r.Uint32N(200)))
		for j := range s.freqs[i] {
			if i%3 == 0 {
				s.freqs[i][j] = 1
			} else if i%17 == 0 {
				s.freqs[i][j] = r.Uint32() | 1
			}
		}
	}
	return s
}

// wantList compares list h with the sample.
func (s *sample) wantList(t failer, src *plan.Source, h plan.Handle) {
	t.Helper()
	if docs, err := src.List(h).AppendTo(nil); err != nil || !slices.Equal(docs, s.docs[h]) {
		t.Fatalf("list %d is %v, %v; want %v", h, docs, err, s.docs[h])
	}
	p, err := src.Freq(h)
	if err != nil {
		t.Fatal(err)
	}
	freqs, err := p.AppendTo(nil)
	for i := range freqs {
		freqs[i]++
	}
	if err != nil || !slices.Equal(freqs, s.freqs[h]) {
		t.Fatalf("frequencies of list %d are %v, %v; want %v", h, freqs, err, s.freqs[h])
	}
}

// TestDescribe uses some lists in any order before all are made: each is as in the sample, and
// the words of all take as much room as if all were made at once.
func TestDescribe(t *testing.T) {
	s := blocksSample()
	data := s.image(t)
	whole, err := fromBytes("x", data, true)
	if err != nil {
		t.Fatal(err)
	}
	words, freqs := whole.Source().Used()
	rapid.Check(t, func(t *rapid.T) {
		f, err := fromBytes("x", data, rapid.Bool().Draw(t, "checksums"))
		if err != nil {
			t.Fatal(err)
		}
		src := f.LazySource()
		for _, h := range rapid.SliceOfN(rapid.Uint32Range(0, uint32(len(s.terms)-1)), 0, 6).Draw(t, "lists") {
			if rapid.Bool().Draw(t, "by term") {
				if got, ok := f.Lookup(s.terms[h]); !ok || got != h || src.Lists[h].Len != uint32(len(s.docs[h])) {
					t.Fatalf("term %q is %d, %v", s.terms[h], got, ok)
				}
			}
			s.wantList(t, src, h)
		}
		if err := src.Validate(); err != nil {
			t.Fatal(err)
		}
		for h := range s.terms {
			s.wantList(t, src, plan.Handle(h))
		}
		if w, n := src.Used(); w != words || n != freqs || src.Postings() != f.Meta().Postings {
			t.Fatalf("%d and %d words, want %d and %d", w, n, words, freqs)
		}
	})
}

// TestDescribeAtOnce describes lists from several goroutines, one of which describes all.
func TestDescribeAtOnce(t *testing.T) {
	s := blocksSample()
	f := mustOpen(t, s.build(t))
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			if g == 5 {
				f.Source()
			}
			for i := range s.terms {
				h := (i*101 + g*97) % len(s.terms)
				if got, ok := f.Lookup(s.terms[h]); !ok || int(got) != h || f.LazySource().Lists[h].Len != uint32(len(s.docs[h])) {
					t.Errorf("term %q is %d, %v", s.terms[h], got, ok)
				}
			}
		})
	}
	wg.Wait()
}

// TestDescribeDamage: damage in one block of descriptors concerns its lists alone, and whoever
// needs all lists. Nothing reads descriptors before.
func TestDescribeDamage(t *testing.T) {
	s := blocksSample()
	f, err := fromBytes("x", s.image(t), true)
	if err != nil {
		t.Fatal(err)
	}
	at := f.listPlace(2).bytes
	clear(f.bytes(secLists)[at:f.listPlace(3).bytes])
	f.lazy = false // without checksums, of blocks of 64 KiB, the checks of descriptors remain
	for h, term := range s.terms {
		err := mapped.Run(func() error { f.Lookup(term); return nil })
		if h/listBlock != 2 && err == nil {
			s.wantList(t, f.LazySource(), plan.Handle(h))
			continue
		}
		if c := containertest.WantCorrupt(t, err, "x"); c.Section != secLists.String() {
			t.Error(c)
		}
	}
	for name, read := range map[string]func() error{
		"Source":      func() error { f.Source(); return nil },
		"CheckLists":  f.CheckLists,
		"Verify":      func() error { return f.Verify(context.Background()) },
		"DescribeAll": f.LazySource().DescribeAll,
		"Validate":    f.LazySource().Validate,
		"Tokens":      func() error { f.Tokens(2 * listBlock); return nil },
		"Reason":      func() error { f.Reason(2 * listBlock); return nil },
		"Add":         func() error { new(plan.MatchBatch).Add(f.LazySource(), 1, 2*listBlock); return nil },
		"Rank":        func() error { new(plan.RankBatch).Add(f.LazySource(), plan.Term{List: 2 * listBlock}); return nil },
		"Handles": func() error {
			return (&plan.MatchBatch{Offsets: []uint32{0, 1}, Handles: []plan.Handle{2 * listBlock}}).Validate(f.LazySource())
		},
	} {
		t.Run(name, func(t *testing.T) { containertest.WantCorrupt(t, mapped.Run(read), "x") })
	}
}
