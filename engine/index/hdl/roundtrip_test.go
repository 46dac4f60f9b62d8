package hdl

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/engine/file/container/containertest"
	"heddle/engine/plan"
)

// generators are the named shapes of lists, by universe.
var generators = map[string]func(rng *rand.Rand, docs uint32) []uint32{
	"empty": func(*rand.Rand, uint32) []uint32 { return nil },
	"one":   func(rng *rand.Rand, docs uint32) []uint32 { return []uint32{rng.Uint32N(docs)} },
	"first": func(*rand.Rand, uint32) []uint32 { return []uint32{0} },
	"last":  func(_ *rand.Rand, docs uint32) []uint32 { return []uint32{docs - 1} },
	"all":   func(_ *rand.Rand, docs uint32) []uint32 { return every(docs, 1) },
	"run": func(_ *rand.Rand, docs uint32) []uint32 {
		return every(docs, 1)[docs/3 : docs/3+docs/50]
	},
	"every 31st": func(_ *rand.Rand, docs uint32) []uint32 { return every(docs, 31) },
	"every 33rd": func(_ *rand.Rand, docs uint32) []uint32 { return every(docs, 33) },
	"uniform":    func(rng *rand.Rand, docs uint32) []uint32 { return random(rng, docs, 1, 200) },
	"dense":      func(rng *rand.Rand, docs uint32) []uint32 { return random(rng, docs, 1, 3) },
	"clustered": func(rng *rand.Rand, docs uint32) []uint32 {
		return slices.Concat(random(rng, docs/100, 1, 2), random(rng, docs/2, docs/4, 400))
	},
	"huge gap":       func(_ *rand.Rand, docs uint32) []uint32 { return []uint32{0, 1, 2, docs - 2, docs - 1} },
	"segment":        func(*rand.Rand, uint32) []uint32 { return every(codec.SegmentLen*5, 5) },
	"segment plus 1": func(*rand.Rand, uint32) []uint32 { return every(codec.SegmentLen*5+1, 5) },
	"segment less 1": func(*rand.Rand, uint32) []uint32 { return every(codec.SegmentLen*5-5, 5) },
}

// random lists docIDs below docs, from first on, with gaps of 1 to 2·mean-1.
func random(rng *rand.Rand, docs, first, mean uint32) (list []uint32) {
	for d := first; d < docs; d += 1 + rng.Uint32N(2*mean-1) {
		list = append(list, d)
	}
	return list
}

// shapes is an index with a list of every generator.
func shapes(docs uint32) *sample {
	rng := rand.New(rand.NewPCG(1, uint64(docs)))
	s := &sample{meta: Meta{Docs: docs, ExceptionRatio: 0.1}, names: make([]string, docs), lens: make([]uint32, docs)}
	for d := range s.names {
		s.lens[d] = rng.Uint32()
		if d%3 != 0 {
			s.names[d] = fmt.Sprintf("document %d", d)
		}
	}
	names := make([]string, 0, len(generators))
	for name := range generators {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		s.add(name, generators[name](rng, docs))
		f := s.freqs[len(s.freqs)-1]
		for i := range f {
			if f[i] = 1 + rng.Uint32N(8); i%97 == 5 {
				f[i] = ^uint32(0) - rng.Uint32N(2)
			}
		}
	}
	return s
}

func TestRoundTrip(t *testing.T) {
	sizes := []uint32{5000, 100_003}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for _, docs := range sizes {
		s := shapes(docs)
		metas := []Meta{
			{},
			{Codec: "auto", Dense: "auto", ExceptionRatio: 0.1},
			{Codec: "AUTO", Dense: "never", ExceptionRatio: 0.6},
			{Codec: "raw"}, {Codec: "parapfor", ExceptionRatio: 0.3}, {Codec: "bitset"},
		}
		for _, id := range codec.IDs() {
			if id != codec.Bitset {
				metas = append(metas, Meta{Codec: id.String(), Dense: "never"})
			}
		}
		for _, m := range metas {
			t.Run(fmt.Sprintf("%d/%s/%s/%g", docs, m.Codec, m.Dense, m.ExceptionRatio), func(t *testing.T) {
				s.meta.Codec, s.meta.Dense, s.meta.ExceptionRatio = m.Codec, m.Dense, m.ExceptionRatio
				path := s.build(t)
				f := mustOpen(t, path)
				s.check(t, f)
				s.checkCodecs(t, f)
				if err := f.Verify(context.Background()); err != nil {
					t.Fatal(err)
				}
				trusted, err := OpenTrusted(path)
				if err != nil {
					t.Fatal(err)
				}
				defer trusted.Close()
				s.check(t, trusted)
				if trusted.Checksum() != f.Checksum() {
					t.Error("the checksum changes from open to open")
				}
			})
		}
	}
}

// checkCodecs checks the rule that gives a list its codec, and the reason in the file.
func (s *sample) checkCodecs(t *testing.T, f *File) {
	t.Helper()
	opt := codec.DefaultOptions()
	opt.ExceptionRatio = s.meta.ExceptionRatio
	for h, l := range f.Source().Lists {
		docs := s.docs[h]
		dense := s.meta.Dense != "never" && len(docs)*32 > int(s.meta.Docs) && codec.Size(codec.Bitset, docs, opt) < len(docs)
		want, reason := codec.Raw, codec.NotSmaller
		switch id, err := codec.ParseID(s.meta.Codec); {
		case dense:
			want, reason = codec.Bitset, codec.Dense
		case err != nil: // auto
			want, reason = l.Codec, codec.LeastCost
		case id == codec.Raw || codec.Size(id, docs, opt) < len(docs):
			want, reason = id, codec.Asked
		}
		if got := f.Reason(plan.Handle(h)); l.Codec != want || got != reason {
			t.Errorf("list %q of %d docIDs is %s (%v), want %v (%v)", s.terms[h], len(docs), l.Codec, got, want, reason)
		}
		if int(l.Words) > len(docs) {
			t.Errorf("list %q takes %d words as %s, %d raw", s.terms[h], l.Words, l.Codec, len(docs))
		}
	}
}

func TestSmallest(t *testing.T) {
	one := &sample{meta: Meta{Docs: 1}, names: []string{""}, lens: []uint32{1}}
	one.add("", []uint32{0})
	long := &sample{meta: Meta{Docs: 1}, names: []string{strings.Repeat("n", MaxNameLen)}, lens: []uint32{^uint32(0)}}
	long.add("\x00", nil)
	long.add(strings.Repeat("\xff", MaxTermLen), []uint32{0})
	for name, s := range map[string]*sample{
		"nothing":      {},
		"no terms":     {meta: Meta{Docs: 2}, names: []string{"a", "b"}, lens: []uint32{0, 3}},
		"no documents": {terms: []string{"a", "b"}, docs: make([][]uint32, 2), freqs: make([][]uint32, 2)},
		"one":          one,
		"longest":      long,
		"tiny":         tiny(),
	} {
		t.Run(name, func(t *testing.T) {
			f := mustOpen(t, s.build(t))
			s.check(t, f)
			if err := f.Verify(context.Background()); err != nil {
				t.Error(err)
			}
			if _, ok := f.Lookup("no such term"); ok {
				t.Error("found what is not there")
			}
		})
	}
}

// TestMisaligned opens a file at an odd address of memory.
func TestMisaligned(t *testing.T) {
	for _, s := range []*sample{shapes(5000), tiny().withTexts()} {
		want := s.image(t)
		f, err := fromBytes("shifted", append(make([]byte, 1, len(want)+1), want...)[1:], true)
		if err != nil {
			t.Fatal(err)
		}
		s.check(t, f)
	}
}

func TestRapid(t *testing.T) {
	dir := t.TempDir()
	names := []string{"auto"}
	for _, id := range codec.IDs() {
		if id != codec.Bitset { // contradicts dense = never
			names = append(names, id.String())
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		docs := rapid.Uint32Range(1, 300).Draw(t, "docs")
		s := &sample{meta: Meta{
			Docs:           docs,
			Codec:          rapid.SampledFrom(names).Draw(t, "codec"),
			Dense:          rapid.SampledFrom([]string{"auto", "never"}).Draw(t, "dense"),
			ExceptionRatio: rapid.Float64Range(0, codec.MaxExceptionRatio).Draw(t, "ratio"),
		}}
		for range docs {
			s.names = append(s.names, rapid.StringN(0, 4, -1).Draw(t, "name"))
			s.lens = append(s.lens, rapid.Uint32().Draw(t, "length"))
		}
		terms := rapid.SliceOfDistinct(rapid.String(), rapid.ID).Draw(t, "terms")
		slices.Sort(terms)
		for _, term := range terms {
			list := rapid.SliceOfDistinct(rapid.Uint32Max(docs-1), rapid.ID).Draw(t, "list")
			slices.Sort(list)
			s.add(term, list)
		}
		path := filepath.Join(dir, "x.hdl")
		w, err := Create(path, s.meta)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.write(w); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s.check(t, f)
		if err := f.Verify(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestConcurrentReaders(t *testing.T) {
	s := shapes(5000)
	f := mustOpen(t, s.build(t))
	containertest.Concurrent(t, f, func() { s.check(t, f) })
}

func TestClose(t *testing.T) {
	f, err := Open(tiny().build(t))
	if err != nil {
		t.Fatal(err)
	}
	containertest.Close(t, f)
}

func TestVerifyCancelled(t *testing.T) {
	containertest.VerifyCancelled(t, mustOpen(t, tiny().build(t)))
}
