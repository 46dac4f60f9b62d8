package inverted

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"heddle/engine/file/input"
	"heddle/engine/index/build/gather"
	"heddle/engine/index/build/source"
)

// TestWire: a field that is longer than its message is malformed, even by the bytes of its length alone.
func TestWire(t *testing.T) {
	for size := range byte(5) {
		w, f := wire{rest: []byte{1<<3 | byte(protowire.BytesType), size, 'a', 'b'}}, field{}
		if ok := w.next(&f); ok != (size <= 2) || ok && len(f.bytes) != int(size) {
			t.Errorf("a field of %d bytes in 2: %v, %q", size, ok, f.bytes)
		}
	}
}

func TestTriple(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.docs", "b.docs.gz", "c", "c.docs"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path, base string
		ok         bool
	}{
		{"a", "a", true}, {"a.docs", "a", true}, {"b", "b", true}, {"b.docs.gz", "b", true}, {"b.docs", "b", true},
		{"c", "c", false}, {"c.docs", "c", true}, {"none", "none", false}, {"none.docs", "none", true},
	} {
		if base, ok := Triple(filepath.Join(dir, c.path)); ok != c.ok || base != filepath.Join(dir, c.base) {
			t.Errorf("Triple(%q) = %q, %v", c.path, base, ok)
		}
	}
	if _, ok := Triple("-"); ok {
		t.Error("standard input is a triple")
	}
}

// closes counts its ends.
type closes int

func (c *closes) Close() error { *c++; return nil }

// TestCloseInputs: inputs that stay open for the merge are closed at the end.
func TestCloseInputs(t *testing.T) {
	var c closes
	var r PISA
	for range 2 {
		r.open = append(r.open, &pisa{docs: &source.Reader{Reader: &input.Reader{Closer: &c}}})
	}
	if err := r.Close(); err != nil || c != 2 {
		t.Errorf("%v, %d of 2 inputs closed", err, c)
	}
}

// sink checks the order of the calls, and the postings.
type sink struct {
	t          *testing.T
	docs, next uint32
	inList     bool
}

func (s *sink) Start(string) (uint32, error) { return 0, nil }
func (s *sink) CheckRoom(uint64) error       { return nil }
func (s *sink) Warn(string, string, ...any)  {}
func (s *sink) AddRun(gather.Run) error      { return nil }

func (s *sink) AddDocument([]byte, uint32) error {
	s.docs++
	return nil
}

func (s *sink) StartList([]byte) error {
	s.next, s.inList = 0, true
	return nil
}

func (s *sink) AddPosting(doc, freq uint32) error {
	if !s.inList || doc < s.next || doc >= s.docs || freq == 0 {
		s.t.Fatalf("posting %d:%d of %d documents comes behind %d", doc, freq, s.docs, s.next)
	}
	s.next = doc + 1
	return nil
}

func (s *sink) AddPostings(docs, freqs []uint32) error {
	for i, doc := range docs {
		if err := s.AddPosting(doc, freqs[i]); err != nil {
			return err
		}
	}
	return nil
}

func FuzzPISA(f *testing.F) {
	var files [][]byte
	for _, suffix := range tripleSuffixes {
		b, err := os.ReadFile("../testdata/loom" + suffix)
		if err != nil {
			f.Fatal(err)
		}
		files = append(files, b)
	}
	f.Add(files[0], files[1], files[2], files[3], files[4])
	f.Add([]byte{1, 0, 0, 0, 255, 255, 255, 255}, []byte{}, []byte{255, 255, 255, 255}, []byte{}, []byte("a"))
	f.Fuzz(func(t *testing.T, docs, freqs, sizes, terms, documents []byte) {
		o := &input.Opener{Ctx: context.Background()}
		p := pisa{to: &sink{t: t}}
		for to, content := range map[**source.Reader][]byte{&p.docs: docs, &p.freqs: freqs, &p.sizes: sizes, &p.terms: terms, &p.names: documents} {
			r, err := o.Wrap("x", bytes.NewReader(content), io.NopCloser(nil))
			if err != nil {
				return // damaged gzip data
			}
			*to = &source.Reader{Path: "x", Reader: r, MaxDocument: 1 << 16}
		}
		err := p.readDocuments()
		if err == nil && len(docs)%8 == 0 {
			err = p.readLists()
		}
		for l := (gather.List{}); err == nil; { // the lists as a run
			if err = p.Next(&l); err == nil {
				_, _, err = l.Read(nil, nil)
			}
		}
		if err != io.EOF && !errors.Is(err, input.ErrCorrupt) {
			t.Fatalf("error %v", err)
		}
	})
}
