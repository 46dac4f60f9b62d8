package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/codec"
	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// TestTrusted opens a file whose checksums were checked before.
func TestTrusted(t *testing.T) {
	testneeds.OneCaller(t)
	opt := backendOptions(t)
	x, err := open(t.Context(), indexFile(t), opt, IndexOptions{Trusted: true})
	closed(t, x, err)
	for _, q := range testCorpus().queries(20) {
		verify(t, x, q)
	}
}

// TestTrustedSkipsChecksums changes the last docID: without checksums the file opens, and a query of
// the list may find it. With them the query fails, or the open on a device, which reads all lists.
func TestTrustedSkipsChecksums(t *testing.T) {
	testneeds.OneCaller(t)
	path := indexFile(t)
	at := sectionOf(t, path, "docids")
	flip(t, path, at.Offset+at.Length-1)
	x, err := open(t.Context(), path, backendOptions(t))
	if err == nil {
		closed(t, x, nil)
		for h := 0; err == nil && h < x.File().Terms(); h++ {
			_, err = x.Search(t.Context(), Query{Text: x.File().Term(plan.Handle(h))})
		}
	}
	if !errors.Is(err, hdl.ErrCorrupt) {
		t.Errorf("with checksums: %v", err)
	}
	x, err = open(t.Context(), path, Options{Backend: "host"}, IndexOptions{Trusted: true})
	closed(t, x, err)
}

// sectionOf is a section of an index file by its name.
func sectionOf(t *testing.T, path, name string) hdl.Section {
	t.Helper()
	f, err := hdl.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, s := range f.Sections() {
		if s.Name == name && s.Length > 0 {
			return s
		}
	}
	t.Fatalf("%s has no section %s", path, name)
	return hdl.Section{}
}

// TestDamagedDescriptors: pure Go opens an index with a wrong byte in the descriptors of lists, and each
// call that needs them gives the typed error.
func TestDamagedDescriptors(t *testing.T) {
	path := indexFile(t)
	f, err := hdl.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	term := f.Term(0)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	flip(t, path, sectionOf(t, path, "lists").Offset)
	x, err := open(t.Context(), path, Options{Backend: "host"})
	closed(t, x, err)
	q := Query{Text: term}
	for name, call := range map[string]func() error{
		"Search":    func() error { _, err := x.Search(t.Context(), q); return err },
		"SearchAll": func() error { return x.SearchAll(t.Context(), []Query{q}, func(int, []Hits) error { return nil }) },
		"ranked":    func() error { _, err := x.Search(t.Context(), Query{Text: term, K: 3}); return err },
	} {
		var damage *hdl.CorruptError
		if err := call(); CodeOf(err) != Corrupt || !errors.As(err, &damage) || damage.Path != path || damage.Section != "lists" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func flip(t *testing.T, path string, at int64) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[at] ^= 0x10
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestOpenCorrupt gives the typed error, with path and offset, for damage anywhere in the
// file: when the index is opened, or from Verify for bytes that are verified at first use.
func TestOpenCorrupt(t *testing.T) {
	testneeds.OneCaller(t)
	data, err := indexBytes()
	if err != nil {
		t.Fatal(err)
	}
	for at := int64(0); at < int64(len(data)); at += int64(len(data)) / 16 {
		path := indexFile(t)
		flip(t, path, at)
		x, err := open(t.Context(), path, backendOptions(t))
		if err == nil {
			closed(t, x, err)
			f, wrong := hdl.Open(path)
			if wrong != nil {
				t.Fatal(wrong)
			}
			err = f.Verify(t.Context())
			if wrong := f.Close(); wrong != nil {
				t.Fatal(wrong)
			}
		}
		var corrupt *hdl.CorruptError
		if !errors.As(err, &corrupt) || !errors.Is(err, hdl.ErrCorrupt) || corrupt.Path != path {
			t.Errorf("byte %d flipped: %v, %v", at, x, err)
		}
	}
	path := indexFile(t)
	if err := os.Truncate(path, int64(len(data)/2)); err != nil {
		t.Fatal(err)
	}
	if x, err := open(t.Context(), path, backendOptions(t)); !errors.Is(err, hdl.ErrCorrupt) {
		t.Errorf("half of a file: %v, %v", x, err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if x, err := open(t.Context(), path, backendOptions(t)); !errors.Is(err, hdl.ErrCorrupt) {
		t.Errorf("an empty file: %v, %v", x, err)
	}
}

// TestOpenMissing names the file that is not there.
func TestOpenMissing(t *testing.T) {
	testneeds.OneCaller(t)
	path := filepath.Join(t.TempDir(), "none.hdl")
	if x, err := open(t.Context(), path, backendOptions(t)); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("a file that is not there: %v, %v", x, err)
	}
	if x, err := open(t.Context(), t.TempDir(), backendOptions(t)); err == nil || x != nil {
		t.Errorf("a folder: %v, %v", x, err)
	}
}

// TestOpenBackend has the errors of the choice of backend.
func TestOpenBackend(t *testing.T) {
	path := indexFile(t)
	src, dict := inMemory(t)
	open := map[string]func(Options) (*served, error){
		"file":   func(o Options) (*served, error) { return open(t.Context(), path, o) },
		"memory": func(o Options) (*served, error) { return openSource(t.Context(), src, dict, o) },
	}
	for name, open := range open {
		t.Run(name, func(t *testing.T) {
			x, err := open(Options{Backend: "opencl", Device: "no such device anywhere"})
			var device *plan.DeviceError
			if x != nil || !errors.Is(err, plan.ErrNoDevice) || !errors.As(err, &device) || !strings.Contains(err.Error(), "no such device anywhere") {
				t.Errorf("a device that is not there: %v, %v", x, err)
			}
			x, err = open(Options{Backend: "abacus"})
			if x != nil || err == nil || !strings.Contains(err.Error(), `"abacus"`) || !strings.Contains(err.Error(), "host") {
				t.Errorf("an unknown backend: %v, %v; want an error that names it and the known ones", x, err)
			}
			var log logged
			x, err = open(Options{Device: "no such device anywhere", Log: log.logger()})
			if closed(t, x, err).Backend().Kind != "host" {
				t.Errorf("auto without the device runs on %+v", x.Backend())
			}
			log.expect(t, "warn", "no OpenCL device of that name")
		})
	}
}

// TestOpenCancelled leaves nothing open.
func TestOpenCancelled(t *testing.T) {
	testneeds.OneCaller(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if x, err := open(ctx, indexFile(t), backendOptions(t)); x != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("open under a cancelled context: %v, %v", x, err)
	}
}

// TestNewBadSource gives an error for lists outside of the words.
func TestNewBadSource(t *testing.T) {
	testneeds.OneCaller(t)
	src, dict := inMemory(t)
	bad := *src
	bad.Words = src.Words[:len(src.Words)/2]
	if x, err := openSource(t.Context(), &bad, dict, backendOptions(t)); err == nil {
		t.Errorf("a source of half its words: %v", x)
	}
}

// TestOutOfHostMemory refuses an algorithm whose tables do not fit, with one
// error and no word of devices, and goes on with others.
func TestOutOfHostMemory(t *testing.T) {
	x := openMemory(t, Options{Backend: "host", HostMemory: 1})
	_, err := x.search(t.Context(), Query{Text: "t120 t000"}, searchOptions{Algorithm: plan.LR})
	if !errors.Is(err, plan.ErrOutOfMemory) || errors.Is(err, plan.ErrNoDevice) {
		t.Errorf("tables that do not fit: %v", err)
	}
	verify(t, x, Query{Text: "t120 t000"})
}

// TestEmpty answers from indices without documents, or without terms.
func TestEmpty(t *testing.T) {
	testneeds.OneCaller(t)
	dict, err := hdl.NewDictionary(nil)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	in, path := filepath.Join(folder, "none.txt"), filepath.Join(folder, "none.hdl")
	if err := os.WriteFile(in, []byte("name\t!\n"), 0o644); err != nil { // a document without terms
		t.Fatal(err)
	}
	opt := build.DefaultOptions()
	opt.Format = "text"
	if _, err := build.Build(t.Context(), path, []string{in}, opt); err != nil {
		t.Fatal(err)
	}
	x, err := openSource(t.Context(), &plan.Source{}, dict, backendOptions(t))
	memory := closed(t, x, err)
	x, err = open(t.Context(), path, backendOptions(t))
	file := closed(t, x, err)
	for _, x := range []*served{memory, file} {
		verify(t, x, Query{Text: "nothing here"})
		verify(t, x, Query{})
	}
}

// TestClosed gives plan.ErrClosed everywhere, and never panics: the file's
// memory is gone.
func TestClosed(t *testing.T) {
	qs := testCorpus().queries(10)
	each(t, backendOptions(t), func(t *testing.T, x *served) {
		verify(t, x, qs[0])
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		for _, q := range append(qs, Query{}, Query{Text: "t000"}, Query{Terms: []string{"t000"}}) {
			if _, err := x.search(t.Context(), q, searchOptions{}); !errors.Is(err, plan.ErrClosed) {
				t.Errorf("Search: %v", err)
			}
		}
		var out plan.Results
		for _, n := range []int{0, len(qs)} {
			if err := x.searchMany(t.Context(), qs[:n], searchOptions{}, &out); !errors.Is(err, plan.ErrClosed) {
				t.Errorf("SearchMany of %d queries: %v", n, err)
			}
			err := x.searchBatches(t.Context(), qs[:n], searchOptions{}, func(int, *plan.Results) error { return nil })
			if !errors.Is(err, plan.ErrClosed) {
				t.Errorf("SearchBatches of %d queries: %v", n, err)
			}
		}
		if _, err := x.Snapshot(); !errors.Is(err, plan.ErrClosed) || CodeOf(err) != Closed {
			t.Errorf("Snapshot: %v", err)
		}
		if _, err := x.Info(); !errors.Is(err, plan.ErrClosed) {
			t.Errorf("Info: %v", err)
		}
		if err := x.Close(); !errors.Is(err, plan.ErrClosed) {
			t.Errorf("a second Close: %v", err)
		}
	})
}

// TestWrongLists gives an error or an answer within bounds, not a panic, where a
// trusted file's lists are damaged.
func TestWrongLists(t *testing.T) {
	testneeds.OneCaller(t)
	path := indexFile(t)
	f, err := hdl.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	sections := f.Sections()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		if s.Name != "docids" {
			continue
		}
		for at := s.Offset; at+4 <= s.Offset+s.Length; at += 60 {
			binary.LittleEndian.PutUint32(data[at:], uint32(at)*2654435761)
		}
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	opt := backendOptions(t)
	x, err := open(t.Context(), path, opt, IndexOptions{Trusted: true})
	if err != nil { // found while tables were made
		if !errors.Is(err, codec.ErrCorrupt) {
			t.Errorf("lists of random words: %v", err)
		}
		return
	}
	closed(t, x, err)
	failed := 0
	for _, q := range testCorpus().queries(pick(200, 50)) {
		a, err := x.search(t.Context(), q, searchOptions{})
		if err != nil {
			failed++
		} else if a.Count > uint64(testCorpus().docs) {
			t.Errorf("%+v: %d documents of %d", q, a.Count, testCorpus().docs)
		}
	}
	if failed == 0 && onHost() {
		t.Error("lists of random words gave no error")
	}
}
