package hdl

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
	"heddle/engine/index/analyze"
	"heddle/engine/plan/testneeds"
)

// TestWriterInput breaks each rule and each limit once, behind a good list.
func TestWriterInput(t *testing.T) {
	list := func(term string, docs, freqs []uint32) func(*Writer) error {
		return func(w *Writer) error { return w.AddList(term, docs, freqs) }
	}
	for name, c := range map[string]struct {
		do   func(*Writer) error
		want string
	}{
		"term twice":         {list("m", nil, nil), `term "m" comes twice`},
		"term out of order":  {list("lz", nil, nil), `term "lz" comes behind "m"`},
		"term too long":      {list(strings.Repeat("z", MaxTermLen+1), nil, nil), "65537 bytes; at most 65536"},
		"docID out of range": {list("n", []uint32{1, 3}, []uint32{1, 1}), "docID 3 out of 3 documents"},
		"docID of 32 bits":   {list("n", []uint32{math.MaxUint32}, []uint32{1}), "docID 4294967295 out of 3"},
		"docID twice":        {list("n", []uint32{1, 1}, []uint32{1, 1}), "docID 1 comes behind 1"},
		"docIDs descend":     {list("n", []uint32{2, 0}, []uint32{1, 1}), "docID 0 comes behind 2"},
		"frequency 0":        {list("n", []uint32{0, 2}, []uint32{1, 0}), "docID 2 has frequency 0"},
		"no frequencies":     {list("n", []uint32{0, 2}, nil), "2 docIDs and 0 frequencies"},
		"name too long":      {func(w *Writer) error { return w.AddDocument(strings.Repeat("z", MaxNameLen+1), 1) }, "65537 bytes; at most 65536"},
		"too many documents": {func(w *Writer) error {
			for range 3 {
				if err := w.AddDocument("", 0); err != nil {
					return fmt.Errorf("too early: %v", err)
				}
			}
			return w.AddDocument("one more", 0)
		}, `document 3 out of 3: "one more"`},
		"missing documents": {func(w *Writer) error {
			if err := w.AddDocument("", 0); err != nil {
				return err
			}
			return w.Commit()
		}, "2 of 3 documents are missing"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.hdl")
			w, err := Create(path, Meta{Docs: 3})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.AddList("m", []uint32{0, 2}, []uint32{1, 7}); err != nil {
				t.Fatal(err)
			}
			err = c.do(w)
			if !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			// The error stays, whichever call follows.
			for _, again := range []error{w.AddList("z", nil, nil), w.AddDocument("", 0), w.Commit()} {
				if again == nil || !strings.Contains(again.Error(), c.want) {
					t.Errorf("then %v, want %q", again, c.want)
				}
			}
			containertest.WantFolder(t, filepath.Dir(path))
		})
	}
}

func TestCreateErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.hdl")
	for want, m := range map[string]Meta{
		"unknown codec":             {Codec: "lz4"},
		"neither auto nor never":    {Dense: "always"},
		"codec bitset contradicts":  {Codec: "bitset", Dense: "never"},
		"exception ratio 0.7":       {ExceptionRatio: 0.7},
		"exception ratio NaN":       {ExceptionRatio: math.NaN()},
		`"\xff" is not UTF-8`:       {Creator: "\xff"},
		`"stop\xff" is not UTF-8`:   {Analysis: analyze.Settings{StopWords: []string{"the", "stop\xff"}}},
		`"utf16\xfe" is not UTF-8`:  {Format: "utf16\xfe"},
		`"words\xfd" is not UTF-8`:  {Analysis: analyze.Settings{Tokens: "words\xfd"}},
		`"bm\xff" is not UTF-8`:     {Impacts: Impacts{Bits: 8, Origin: ImpactsBM25, Variant: "bm\xff"}},
		"impacts of 7 bits":         {Impacts: Impacts{Bits: 7, Origin: ImpactsBM25}},
		"impacts of 0 bits":         {Impacts: Impacts{Scale: 1}},
		`unknown origin "tfidf"`:    {Impacts: Impacts{Bits: 8, Origin: "tfidf"}},
		"the scale NaN":             {Impacts: Impacts{Bits: 8, Origin: ImpactsWeights, Scale: math.NaN()}},
		"the scale -1":              {Impacts: Impacts{Bits: 8, Origin: ImpactsWeights, Scale: -1}},
		`"german\xfe" is not UTF-8`: {Analysis: analyze.Settings{Stemmer: "german\xfe"}},
	} {
		if _, err := Create(path, m); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", m, err, want)
		}
	}
	containertest.WantFolder(t, dir)
	if _, err := Create(filepath.Join(dir, "none", "x.hdl"), Meta{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestAbort(t *testing.T) {
	path := tiny().build(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Create(path, Meta{Docs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AddDocument("other", 1); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Abort(); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{w.AddDocument("", 0), w.AddList("", nil, nil), w.Commit()} {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("after Abort: %v", err)
		}
	}
	containertest.WantFolder(t, filepath.Dir(path), "x.hdl")
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("Abort touched the file that was there (%v)", err)
	}
}

// TestReplace commits over an index that is open: the reader keeps the old one.
func TestReplace(t *testing.T) {
	old := tiny()
	path := old.build(t)
	f := mustOpen(t, path)
	s := &sample{meta: Meta{Docs: 1}, names: []string{"other"}, lens: []uint32{1}}
	w, err := Create(path, s.meta)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.write(w); err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		t.Errorf("Abort after Commit: %v", err)
	}
	if err := w.Commit(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("second Commit: %v", err)
	}
	old.check(t, f)
	s.check(t, mustOpen(t, path))
	containertest.WantFolder(t, filepath.Dir(path), "x.hdl")
}

// TestLargestDocID writes docIDs up to the limit; the 2³² documents that a
// Commit would need are left out.
func TestLargestDocID(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.hdl")
	for _, codec := range []string{"auto", "raw", "parapfor"} {
		w, err := Create(path, Meta{Docs: math.MaxUint32, Codec: codec})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.AddList("a", []uint32{0, math.MaxUint32 - 1}, []uint32{1, math.MaxUint32}); err != nil {
			t.Error(err)
		}
		if w.header.tokens != 1<<32 {
			t.Errorf("%d tokens, want 2^32", w.header.tokens)
		}
		if err := w.AddList("b", []uint32{math.MaxUint32}, []uint32{1}); !errors.Is(err, ErrInput) {
			t.Errorf("docID 2^32-1: %v", err)
		}
		if err := w.Commit(); !strings.Contains(err.Error(), "docID 4294967295 out of 4294967295 documents") {
			t.Error(err)
		}
	}
}

// TestSectionLimits: the lengths of sections at the limits of documents and terms.
func TestSectionLimits(t *testing.T) {
	h := header{docs: math.MaxUint32, terms: math.MaxUint32}
	for s, want := range map[section]uint64{secTermOffsets: 8 * (1<<28 + 1), secNameOffsets: 8 * (1<<28 + 1), secListBlocks: 24 * (1<<25 + 1)} {
		if got, fixed := h.sectionLength(s); got != want || !fixed {
			t.Errorf("section %s has %d bytes at the limit, want %d", s, got, want)
		}
	}
}

// TestWriterMemory sees that a writer's memory does not grow with lists or
// documents, once its buffers have the size of the longest list.
func TestWriterMemory(t *testing.T) {
	w, err := Create(filepath.Join(t.TempDir(), "x.hdl"), Meta{Docs: 100_000, ExceptionRatio: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	lists := [][]uint32{every(100_000, 2), every(100_000, 50), every(9, 2)}
	freqs := make([]uint32, 50_000)
	for i := range freqs {
		freqs[i] = 1 + uint32(i%9)
	}
	terms := make([]string, 0, 400)
	for i := range cap(terms) {
		terms = append(terms, fmt.Sprintf("term%03d", i))
	}
	var before uint64
	for n, term := range terms {
		if n == 50 { // all buffers are there
			before = containertest.Heap()
		}
		docs := lists[n%len(lists)]
		if err := w.AddList(term, docs, freqs[:len(docs)]); err != nil {
			t.Fatal(err)
		}
		if err := w.AddDocument(term, 1); err != nil {
			t.Fatal(err)
		}
	}
	// The lists together have 7 million postings.
	if after := containertest.Heap(); after > before+100_000 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
	runtime.KeepAlive(lists)
	runtime.KeepAlive(freqs)
}

// TestPowerCuts replaces an index on a disk that loses its power.
func TestPowerCuts(t *testing.T) {
	s := second()
	containertest.PowerCuts(t, tiny().build(t), func(d container.Disk, path string) error {
		w, err := CreateOn(d, path, s.meta)
		if err != nil {
			return err
		}
		return errors.Join(s.write(w), w.Abort())
	})
}

// TestFaults lets every single operation on the disk fail once.
func TestFaults(t *testing.T) {
	testneeds.Long(t)
	// The first list is longer than a buffer, so AddList writes as well. Most sections have a temporary file.
	s := &sample{meta: Meta{Docs: 300_000, Codec: "raw", Dense: "never"}, names: make([]string, 300_000), lens: make([]uint32, 300_000)}
	s.add("all", every(300_000, 1))
	s.add("some", every(300_000, 1000))
	s.meta.Store, s.texts = StoreText, make([]string, 300_000)
	s.texts[5] = strings.Repeat("warp and weft ", 3*documentBlock)
	old := tiny()
	path := old.build(t)
	containertest.Faults(t, path, 50, func(d container.Disk) error {
		w, err := CreateOn(d, path, s.meta)
		if err != nil {
			return err
		}
		return errors.Join(s.write(w), w.Abort())
	}, func(written bool) {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		map[bool]*sample{false: old, true: s}[written].check(t, f)
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestEmptyTerm: the empty term is the first one, once.
func TestEmptyTerm(t *testing.T) {
	w, err := Create(filepath.Join(t.TempDir(), "x.hdl"), Meta{Docs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AddList("", nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.AddList("", nil, nil); !errors.Is(err, ErrInput) {
		t.Errorf("the empty term again: %v", err)
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
}
