package hdl

import (
	"context"
	"slices"
	"testing"

	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
	"heddle/engine/file/mapped"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// answers reads all of f, a damaged file of s: each answer is correct or the typed error.
func (s *sample) answers(t *testing.T, f *File) {
	t.Helper()
	read := func(get func() error) {
		t.Helper()
		if err := mapped.Run(get); err != nil {
			containertest.WantCorrupt(t, err, f.Path())
		}
	}
	wrong := func(format string, args ...any) error { t.Helper(); t.Fatalf(format, args...); return nil }
	for i, term := range s.terms {
		h := plan.Handle(i)
		read(func() error {
			if got, ok := f.Lookup(term); !ok || got != h || f.Term(h) != term {
				return wrong("term %q is %d, %v", term, got, ok)
			}
			return nil
		})
		read(func() error {
			docs, err := f.LazySource().List(h).AppendTo(nil)
			if !slices.Equal(docs, s.docs[i]) {
				return wrong("list %q is %v, %v", term, docs, err)
			}
			return err
		})
		read(func() error {
			freqs, err := f.Freqs(nil, h)
			if err == nil && !slices.Equal(freqs, s.freqs[i]) {
				return wrong("frequencies of %q are %v", term, freqs)
			}
			return err
		})
		read(func() error { _, err := f.LazySource().Freq(h); return err })
	}
	for i, name := range s.names {
		read(func() error {
			got, err := f.DocName(uint32(i))
			if err == nil && got != name {
				return wrong("name %d is %q", i, got)
			}
			return err
		})
		if got := f.DocLen(uint32(i)); got != s.lens[i] {
			t.Fatalf("length %d is %d", i, got)
		}
	}
	for i, text := range s.texts {
		read(func() error {
			got, err := f.Document(uint32(i))
			if err == nil && got != text {
				return wrong("text %d is %.60q", i, got)
			}
			return err
		})
	}
}

// TestDamagedName: the name in a damaged block is an error without a recovery by the caller.
func TestDamagedName(t *testing.T) {
	data := tiny().image(t)
	h, err := headerOf(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []section{secNames, secNameOffsets} {
		at := h.Table[part].Offset + h.Table[part].Length - 1
		data[at] ^= 4
		f, err := fromBytes("x", data, true)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.DocName(0)
		if c := containertest.WantCorrupt(t, err, "x"); c.Section != part.String() {
			t.Errorf("section %v: %v", part, c)
		}
		data[at] ^= 4
	}
}

// TestDamagedFreqs damages the last of several blocks of the frequencies of a list.
func TestDamagedFreqs(t *testing.T) {
	const docs = 3 * container.BlockSize
	s := &sample{meta: Meta{Docs: docs}, names: make([]string, docs), lens: make([]uint32, docs)}
	s.add("a", every(docs, 1))
	for i := range s.freqs[0] {
		s.freqs[0][i] = 1 + uint32(i)*2654435761>>20
	}
	data := s.image(t)
	h, err := headerOf(data)
	if err != nil {
		t.Fatal(err)
	}
	e := h.Table[secFreqs]
	data[e.Offset+e.Length-1] ^= 1
	f, err := fromBytes("x", data, true)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Freqs(nil, 0)
	if c := containertest.WantCorrupt(t, err, "x"); e.Length < 2*container.BlockSize || c.Section != secFreqs.String() {
		t.Errorf("%v, of %d bytes", c, e.Length)
	}
}

// TestFlippedParts flips a bit in some bytes of the sections that are verified at first use.
func TestFlippedParts(t *testing.T) {
	testneeds.Long(t)
	s := tiny().withTexts()
	data := s.image(t)
	h, err := headerOf(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []section{secDocIDs, secFreqs, secLists, secNames, secNameOffsets, secDocuments, secDocumentBlocks, secDocumentOffsets} {
		e := h.Table[part]
		for at := e.Offset; at < e.Offset+e.Length; at += 1 + e.Length/200 {
			data[at] ^= 1 << (at % 8)
			f, err := fromBytes("x", data, true)
			if err != nil {
				t.Fatal(err)
			}
			s.answers(t, f)
			containertest.WantCorrupt(t, f.Verify(context.Background()), "x")
			data[at] ^= 1 << (at % 8)
		}
	}
}
