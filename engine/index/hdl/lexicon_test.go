package hdl

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/file/mapped"
	"heddle/engine/index/hdl/compress"
	"heddle/engine/plan"
)

// family draws strings that share prefixes of all lengths, also of lengths that take more than one byte.
func family(t *rapid.T) []string {
	stem := strings.Repeat("warp", rapid.IntRange(0, 9).Draw(t, "stem"))
	return rapid.SliceOf(rapid.Custom(func(t *rapid.T) string {
		return stem[:rapid.IntRange(0, len(stem)).Draw(t, "shared")] + rapid.StringN(-1, -1, 40).Draw(t, "rest")
	})).Draw(t, "strings")
}

// newLexicon front-codes terms, which ascend.
func newLexicon(terms []string) *lexicon {
	l := &lexicon{terms: uint32(len(terms)), corrupt: func(_ uint64, format string, args ...any) error { return fmt.Errorf(format, args...) }}
	before := ""
	for h, term := range terms {
		if h%termBlock == 0 {
			l.offsets, before = append(l.offsets, uint64(len(l.bytes))), ""
		}
		l.bytes, before = compress.AppendFront(l.bytes, before, term), term
	}
	l.offsets = append(l.offsets, uint64(len(l.bytes)))
	return l
}

// TestLexicon looks terms and further strings up, by search and by the Dictionary.
func TestLexicon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		terms := slices.Compact(slices.Sorted(slices.Values(family(t))))
		l := newLexicon(terms)
		queries := append(append(family(t), ""), terms...)
		for _, indexed := range []bool{false, true} {
			if indexed {
				l.index()
			}
			for _, q := range queries {
				want, there := slices.BinarySearch(terms, q)
				if got, ok := l.Lookup(q); ok != there || ok && int(got) != want {
					t.Fatalf("Lookup(%q) = %d, %v, want %d, %v", q, got, ok, want, there)
				}
				if !indexed {
					l.fast.Store(nil) // lookups have not paid for it
				}
			}
		}
		for h, want := range terms {
			if got := l.Term(plan.Handle(h)); got != want {
				t.Fatalf("term %d is %q, want %q", h, got, want)
			}
		}
		for _, q := range queries {
			h := l.search(q)
			if at, _ := slices.BinarySearch(terms, q); int(h) > at || at-int(h) > termBlock {
				t.Fatalf("search(%q) = %d, the first term is %d", q, h, at)
			}
		}
	})
}

// TestLexiconIndex: the Dictionary is made once, when lookups have paid for it.
func TestLexiconIndex(t *testing.T) {
	var terms []string
	for i := range 1000 {
		terms = append(terms, fmt.Sprintf("%04d", i))
	}
	l := newLexicon(terms)
	for i := range 1000 {
		fast := l.fast.Load()
		if (fast != nil) != (i > len(terms)/8) {
			t.Fatalf("before lookup %d: Dictionary %v", i, fast != nil)
		}
		l.Lookup("none")
		if fast != nil && l.fast.Load() != fast {
			t.Fatal("a second Dictionary")
		}
	}
	if n := testing.AllocsPerRun(100, func() { l.Lookup("0500"); l.Lookup("none") }); n != 0 {
		t.Errorf("Lookup allocates %v times", n)
	}
}

func TestPrefix(t *testing.T) {
	s := &sample{meta: Meta{Docs: 1}, names: []string{"a"}, lens: []uint32{1}}
	for i := range 200 {
		s.add(fmt.Sprintf("%03d", i*3), nil)
	}
	f := mustOpen(t, s.build(t))
	for _, prefix := range []string{"", "0", "04", "045", "0450", "3", "59", "597", "6", "\xff"} {
		var want []string
		for _, term := range s.terms {
			if strings.HasPrefix(term, prefix) {
				want = append(want, term)
			}
		}
		if got := slices.Collect(f.Prefix(prefix)); !slices.Equal(got, want) {
			t.Errorf("Prefix(%q) = %q, want %q", prefix, got, want)
		}
	}
	for term := range f.Prefix("1") {
		if term != "102" {
			t.Errorf("the first of Prefix(1) is %s", term)
		}
		break
	}
	if err := f.Verify(context.Background()); err != nil {
		t.Error(err)
	}
}

// FuzzLexicon reads terms from any bytes: a term is found, or damage is a *mapped.Fault.
func FuzzLexicon(f *testing.F) {
	good := newLexicon([]string{"heddle", "heddles", "loom", "warp"})
	f.Add(good.bytes, uint32(4), "loom")
	f.Add(newLexicon(strings.Split("abcdefghi", "")).bytes, uint32(8), "i") // one term too many
	f.Add([]byte("\xf1\x05x"), uint32(1), "")
	f.Fuzz(func(t *testing.T, b []byte, terms uint32, query string) {
		terms %= termBlock + 1
		l := &lexicon{bytes: b, offsets: []uint64{0, uint64(len(b))}, terms: terms, corrupt: good.corrupt}
		err := mapped.Run(func() error {
			if got, ok := l.Lookup(query); ok && (got >= terms || l.Term(got) != query) {
				t.Fatalf("Lookup(%q) = %d of %d", query, got, terms)
			}
			n := plan.Handle(0)
			for h := range l.from(0) {
				if h != n {
					t.Fatalf("term %d in the place of %d", h, n)
				}
				n++
			}
			if n != terms {
				t.Fatalf("%d terms of %d", n, terms)
			}
			return nil
		})
		if err != nil && !mapped.IsFault(err) {
			t.Fatal(err)
		}
	})
}

// BenchmarkLexicon looks terms up in an order that no cache predicts.
func BenchmarkLexicon(b *testing.B) {
	for _, n := range []int{65_536, 1_000_000} {
		terms := make([]string, n)
		for i := range terms {
			terms[i] = fmt.Sprintf("term%07d", i)
		}
		queries := slices.Clone(terms)
		rng := rand.New(rand.NewPCG(5, 6))
		rng.Shuffle(n, func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
		for _, indexed := range []bool{false, true} {
			l := newLexicon(terms)
			l.lookups.Store(1 << 31) // no Dictionary by itself
			if indexed {
				l.index()
			}
			b.Run(fmt.Sprintf("%d/indexed=%v", n, indexed), func(b *testing.B) {
				i := 0
				for b.Loop() {
					if _, ok := l.Lookup(queries[i]); !ok {
						b.Fatal(queries[i])
					}
					if i++; i == n {
						i = 0
					}
				}
			})
		}
	}
}
