package hdl

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine/file/container/containertest"
	"heddle/engine/index/analyze"
)

// sample is an index in plain form, the oracle of the tests.
type sample struct {
	meta  Meta
	names []string
	lens  []uint32
	terms []string
	docs  [][]uint32
	freqs [][]uint32
	texts []string // as many as names, or none, by the meta
}

// tiny is the index of FORMAT.md: small, but with a list of every codec.
func tiny() *sample {
	s := &sample{meta: Meta{
		Docs: 24, Creator: "heddle", Format: "text", Codec: "parapfor", ExceptionRatio: 0.1,
		Analysis: analyze.Settings{Stemmer: "english", StopWords: []string{"and", "the"}},
	}}
	for d := range s.meta.Docs {
		s.names, s.lens = append(s.names, fmt.Sprintf("Gen 1:%d", d+1)), append(s.lens, 5+d*d%7)
	}
	s.add("heddle", []uint32{1, 17})
	s.add("loom", []uint32{0, 1, 2, 3, 5, 6, 8, 9, 10, 23})
	s.add("warp", every(20, 1))
	return s
}

// withTexts gives s texts: of several blocks, short, empty, not UTF-8.
func (s *sample) withTexts() *sample {
	s.meta.Store = StoreText
	s.texts = make([]string, s.meta.Docs)
	for d := range s.texts {
		switch d % 4 {
		case 0:
			var text strings.Builder
			for i := range 150 * d {
				fmt.Fprintf(&text, "warp %d and weft %x ", d*i%97, i*i)
			}
			s.texts[d] = text.String()
		case 1:
			s.texts[d] = fmt.Sprintf("loom\xff %d", d)
		case 2:
			s.texts[d] = fmt.Sprintf("%x", sha256.Sum256([]byte{byte(d)}))
		}
	}
	return s
}

// withImpacts gives s impacts of so many bits, the greatest among them.
func (s *sample) withImpacts(bits uint8) *sample {
	s.meta.Impacts = Impacts{Bits: bits, Origin: ImpactsBM25, Scale: 0.25, Variant: "lucene", K1: 0.9, B: 0.4}
	s.meta.Analysis = analyze.Settings{Tokens: analyze.TokensSpaces, Stemmer: analyze.StemNone}
	s.freqs[0][0] = s.meta.Impacts.Max()
	return s
}

// withPositions gives s positions, and a list of more than 128 postings.
func (s *sample) withPositions() *sample {
	s.meta.Positions = true
	for d := s.meta.Docs; d < 300; d++ {
		s.names, s.lens = append(s.names, fmt.Sprintf("Gen 2:%d", d)), append(s.lens, 9)
	}
	s.meta.Docs = 300
	s.add("weft", every(300, 1))
	return s
}

// positions are the values of the positions of a list.
func (s *sample) positions(list int) (values []uint32) {
	for i, f := range s.freqs[list] {
		for j := range f {
			values = append(values, uint32(list+i)*(j+1)%97<<(i%20))
		}
	}
	return values
}

// every lists every k-th docID below n.
func every(n, k uint32) (docs []uint32) {
	for d := uint32(0); d < n; d += k {
		docs = append(docs, d)
	}
	return docs
}

// add appends a list with frequencies that depend on the docIDs.
func (s *sample) add(term string, docs []uint32) {
	freqs := make([]uint32, len(docs))
	for i, d := range docs {
		freqs[i] = 1 + d%3
	}
	s.terms, s.docs, s.freqs = append(s.terms, term), append(s.docs, docs), append(s.freqs, freqs)
}

// write feeds the sample to a Writer.
func (s *sample) write(w *Writer) error {
	for h, t := range s.terms {
		if err := w.AddList(t, s.docs[h], s.freqs[h]); err != nil {
			return err
		}
		if s.meta.Positions {
			if err := w.AddPositions(s.positions(h)); err != nil {
				return err
			}
		}
	}
	for d, name := range s.names {
		if err := w.AddDocument(name, s.lens[d]); err != nil {
			return err
		}
	}
	for _, text := range s.texts {
		if err := w.AddStored([]byte(text)); err != nil {
			return err
		}
	}
	return w.Commit()
}

// build writes the sample to a file of the test.
func (s *sample) build(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.hdl")
	w, err := Create(path, s.meta)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.write(w); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Fatalf("the folder holds %v, %v; want the index alone", entries, err)
	}
	return path
}

// failer is the common part of *testing.T and *rapid.T.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// check compares an open file with the sample.
func (s *sample) check(t failer, f *File) {
	t.Helper()
	if f.Docs() != s.meta.Docs || f.Terms() != len(s.terms) {
		t.Fatalf("%d documents and %d terms, want %d and %d", f.Docs(), f.Terms(), s.meta.Docs, len(s.terms))
	}
	want := s.meta
	want.Terms = uint32(len(s.terms))
	src := f.Source()
	if err := src.Validate(); err != nil {
		t.Fatal(err)
	}
	for i, term := range s.terms {
		h := uint32(i)
		if got, ok := f.Lookup(term); !ok || got != h {
			t.Fatalf("Lookup(%q) = %d, %v, want %d", term, got, ok, h)
		}
		if got := f.Term(h); got != term {
			t.Fatalf("term %d is %q, want %q", h, got, term)
		}
		docs, err := src.List(h).AppendTo(nil)
		if err != nil || !slices.Equal(docs, s.docs[i]) {
			t.Fatalf("list %q: %v, %v, want %v", term, docs, err, s.docs[i])
		}
		freqs, err := f.Freqs([]uint32{7}, h)
		if err != nil || freqs[0] != 7 || !slices.Equal(freqs[1:], s.freqs[i]) {
			t.Fatalf("frequencies of %q: %v, %v, want %v", term, freqs, err, s.freqs[i])
		}
		tokens := uint64(0)
		for _, n := range s.freqs[i] {
			tokens += uint64(n)
		}
		if s.meta.Positions {
			if got, err := f.Positions([]uint32{7}, h); err != nil || !slices.Equal(got[1:], s.positions(i)) {
				t.Fatalf("positions of %q: %v, %v, want %v", term, got, err, s.positions(i))
			}
		}
		if got := f.Tokens(h); got != tokens {
			t.Fatalf("list %q has %d tokens, want %d", term, got, tokens)
		}
		want.Postings += uint64(len(docs))
		want.Tokens += tokens
		for _, miss := range []string{term + "\x00", term + "x", "x" + term} {
			if h, ok := f.Lookup(miss); ok && f.Term(h) != miss {
				t.Fatalf("Lookup(%q) found %q", miss, f.Term(h))
			}
		}
	}
	for i, name := range s.names {
		d := uint32(i)
		if got, err := f.DocName(d); err != nil || got != name || f.DocLen(d) != s.lens[i] {
			t.Fatalf("document %d is %q, %d, %v, want %q, %d", d, got, f.DocLen(d), err, name, s.lens[i])
		}
		want.Length += uint64(s.lens[i])
	}
	for _, first := range []int{0, len(s.names) / 2} {
		next := first
		for d, name := range f.Names(uint32(first)) {
			if int(d) != next || name != s.names[d] {
				t.Fatalf("Names(%d) gives %d, %q in the place of %d, %q", first, d, name, next, s.names[d])
			}
			next++
		}
		if next != len(s.names) {
			t.Fatalf("Names(%d) ends at %d of %d", first, next, len(s.names))
		}
	}
	if f.HasDocuments() != want.stores() || f.Meta().Store != want.Store {
		t.Fatalf("stored: %v, %q, want %q", f.HasDocuments(), f.Meta().Store, want.Store)
	}
	for i, text := range s.texts {
		if got, err := f.Document(uint32(i)); err != nil || got != text {
			t.Fatalf("text %d is %.60q, %v, want %.60q", i, got, err, text)
		}
	}
	if got := f.Meta(); got.Creator != want.Creator || got.Format != want.Format ||
		got.Codec != want.Codec || got.Dense != want.Dense || got.ExceptionRatio != want.ExceptionRatio ||
		got.Impacts != want.Impacts || src.Impacts != want.Impacts.Bits ||
		got.Analysis.Tokens != want.Analysis.Tokens || got.Analysis.Stemmer != want.Analysis.Stemmer || !slices.Equal(got.Analysis.StopWords, want.Analysis.StopWords) ||
		got.Docs != want.Docs || got.Terms != want.Terms ||
		got.Postings != want.Postings || got.Tokens != want.Tokens || got.Length != want.Length {
		t.Fatalf("meta %+v, want %+v", got, want)
	}
}

func mustOpen(t testing.TB, path string) *File {
	t.Helper()
	return containertest.Open(t, path, Open)
}
