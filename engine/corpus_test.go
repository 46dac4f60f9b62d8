package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"heddle/codec"
	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// corpus is a small collection whose every answer a plain scan can give.
type corpus struct {
	docs  int
	terms []string
	has   map[string][]bool // by term and docID
}

// dense is how many terms of the corpus are in nearly every document, so that a
// query of a hundred terms matches something. The others get rarer and rarer.
const dense = 110

var testCorpus = sync.OnceValue(func() *corpus {
	r := rand.New(rand.NewPCG(1, 2))
	c := &corpus{docs: 1200, has: map[string][]bool{}}
	for i := range dense + 130 {
		has := make([]bool, c.docs)
		for d := range has {
			has[d] = i < dense && r.IntN(100) < 98 || i >= dense && r.IntN(1<<(1+i%11)) == 0
		}
		term := fmt.Sprintf("t%03d", i)
		c.terms = append(c.terms, term)
		c.has[term] = has
	}
	return c
})

// scan looks at every document: the oracle.
func (c *corpus) scan(q Query) (docs []uint32) {
	terms := q.Terms
	if q.Text != "" {
		terms = strings.Fields(strings.ToLower(q.Text))
	}
	if len(terms) == 0 {
		return nil
	}
	missing := make([]int, c.docs) // how many of the terms a document has not
	for _, t := range terms {
		has := c.has[t]
		for d := range missing {
			if has == nil || !has[d] {
				missing[d]++
			}
		}
	}
	for d, n := range missing {
		if n == 0 {
			docs = append(docs, uint32(d))
		}
	}
	return docs
}

// queries draws n queries of up to seven terms; some of them are unknown, some
// occur twice, some queries are empty, half of them are texts.
func (c *corpus) queries(n int) []Query {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	qs := make([]Query, n)
	for i := range qs {
		var terms []string
		for range r.IntN(8) {
			switch r.IntN(30) {
			case 0:
				terms = append(terms, "unknown")
			case 1:
				terms = append(terms, terms...)
			default:
				terms = append(terms, c.terms[r.IntN(len(c.terms))])
			}
		}
		if r.IntN(2) == 0 {
			qs[i].Text = strings.Join(terms, " ")
		} else {
			qs[i].Terms = terms
		}
	}
	return qs
}

// indexFile writes the corpus as an index file, the way that the command does.
func indexFile(t testing.TB) string {
	t.Helper()
	return written(t, indexBytes)
}

// shortIndexFile has the first shortDocs documents.
func shortIndexFile(t testing.TB) string {
	t.Helper()
	return written(t, func() ([]byte, error) { return indexOf(shortDocs) })
}

const shortDocs = 500

func written(t testing.TB, index func() ([]byte, error)) string {
	t.Helper()
	data, err := index()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "corpus.hdl")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

var indexBytes = sync.OnceValues(func() ([]byte, error) { return indexOf(testCorpus().docs) })

func indexOf(docs int) ([]byte, error) {
	folder, err := os.MkdirTemp("", "heddle-engine-test-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	var text strings.Builder
	for d := range docs {
		fmt.Fprintf(&text, "doc%d\t", d)
		for _, t := range testCorpus().terms {
			if testCorpus().has[t][d] {
				text.WriteString(t + " ")
			}
		}
		text.WriteByte('\n')
	}
	in, out := filepath.Join(folder, "corpus.txt"), filepath.Join(folder, "corpus.hdl")
	if err := os.WriteFile(in, []byte(text.String()), 0o644); err != nil {
		return nil, err
	}
	opt := build.DefaultOptions()
	opt.Format = "text"
	if _, err := build.Build(context.Background(), out, []string{in}, opt); err != nil {
		return nil, err
	}
	return os.ReadFile(out)
}

// inMemory encodes the corpus as lists of all codecs.
func inMemory(t testing.TB) (*plan.Source, Dictionary) {
	t.Helper()
	c := testCorpus()
	src := &plan.Source{Docs: uint32(c.docs)}
	for i, term := range c.terms {
		id := codec.IDs()[i%len(codec.IDs())]
		if _, err := src.Append(id, c.scan(Query{Terms: []string{term}}), codec.DefaultOptions()); err != nil {
			t.Fatal(err)
		}
	}
	dict, err := hdl.NewDictionary(c.terms)
	if err != nil {
		t.Fatal(err)
	}
	return src, dict
}

// opening selects the backend under test, which each engine opens and closes.
func opening() Options {
	backend, device := testneeds.Backend()
	return Options{Backend: backend, Device: device}
}

// sharedDevice is the OpenCL device under test. It stays open for all tests, because opening a
// device builds its kernels and tests them.
var sharedDevice = sync.OnceValues(func() (plan.Backend, error) {
	opt := opening()
	list, err := opt.discovery().Candidates(context.Background())
	if err != nil {
		return nil, err
	}
	return list[0].Open(context.Background())
})

// backendOptions selects the backend under test. Engines share an OpenCL device.
func backendOptions(t testing.TB) Options {
	t.Helper()
	if onHost() {
		return opening()
	}
	device, err := sharedDevice()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Backend: "opencl", Backends: []plan.Backend{device}}
}

func onHost() bool { return !testneeds.OnDevice() }

// pick returns full, or small where tests are to be short.
func pick(full, small int) int {
	if testing.Short() {
		return small
	}
	return full
}

// openFile opens the index file of the corpus; it is closed with the test.
func openFile(t testing.TB, opt Options) *served {
	t.Helper()
	x, err := open(t.Context(), indexFile(t), opt)
	return closed(t, x, err)
}

// openMemory makes an index of the corpus in memory.
func openMemory(t testing.TB, opt Options) *served {
	t.Helper()
	src, dict := inMemory(t)
	x, err := openSource(t.Context(), src, dict, opt)
	return closed(t, x, err)
}

// closed closes x with the test, if the test has not.
func closed(t testing.TB, x *served, err error) *served {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil && !errors.Is(err, plan.ErrClosed) {
			t.Errorf("close: %v", err)
		}
	})
	return x
}

// check compares an answer to q with the scan.
func (c *corpus) check(q Query, count uint64, docs []uint32, countOnly bool) error {
	want := c.scan(q)
	switch {
	case count != uint64(len(want)):
		return fmt.Errorf("%+v: %d documents, want %d", q, count, len(want))
	case countOnly && len(docs) > 0:
		return fmt.Errorf("%+v: %d docIDs where the count was asked for", q, len(docs))
	case !countOnly && !slices.Equal(docs, want):
		return fmt.Errorf("%+v: documents %v, want %v", q, docs, want)
	}
	return nil
}

// verify answers q by itself and compares with the scan.
func verify(t testing.TB, x *served, q Query) {
	t.Helper()
	a, err := x.search(t.Context(), q, searchOptions{})
	if err == nil {
		err = testCorpus().check(q, a.Count, a.Docs, false)
	}
	if err != nil {
		t.Errorf("on %s: %v", x.Backend().Device, err)
	}
}
