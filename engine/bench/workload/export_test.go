package workload

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/engine/bench/benchtest"
	"heddle/engine/plan"
)

// sequences reads a PISA file.
func sequences(t *testing.T, path string) (out [][]uint32) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for len(b) > 0 {
		n := int(binary.LittleEndian.Uint32(b))
		s := make([]uint32, n)
		if _, err := binary.Decode(b[4:], binary.LittleEndian, s); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out = append(out, s)
		b = b[4+4*n:]
	}
	return out
}

func TestExport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	var names bytes.Buffer
	if err := Export(context.Background(), ExportOptions{Dir: dir, Short: true, Orders: []Order{Clustered}, docs: SmallDocs}, &names, io.Discard); err != nil {
		t.Fatal(err)
	}
	w := workload(t, Clustered)
	base := filepath.Join(dir, "gov-clustered")

	docs, freqs := sequences(t, base+".docs"), sequences(t, base+".freqs")
	if len(docs) != len(w.Terms)+1 || len(freqs) != len(w.Terms) {
		t.Fatalf("%d lists, %d of frequencies, want %d", len(docs)-1, len(freqs), len(w.Terms))
	}
	if !slices.Equal(docs[0], []uint32{SmallDocs}) {
		t.Fatalf("the head is %v", docs[0])
	}
	lengths := make([]uint32, SmallDocs)
	sum, postings := 0.0, 0.0
	for h := range w.Terms {
		if !slices.Equal(docs[h+1], w.List(plan.Handle(h))) || len(freqs[h]) != len(docs[h+1]) {
			t.Fatalf("list %d is another one", h)
		}
		for i, d := range docs[h+1] {
			if freqs[h][i] == 0 {
				t.Fatalf("list %d: a frequency of 0", h)
			}
			lengths[d] += freqs[h][i]
			sum += float64(freqs[h][i])
		}
		postings += float64(len(freqs[h]))
	}
	if mean := sum / postings; mean < 1.99 || mean > 2.01 {
		t.Errorf("mean frequency %.3f", mean)
	}
	if sizes := sequences(t, base+".sizes"); len(sizes) != 1 || !slices.Equal(sizes[0], lengths) {
		t.Error("the document lengths are not the sums of the frequencies")
	}

	if got := benchtest.Lines(t, base+".terms"); !slices.Equal(got, w.Terms) {
		t.Error("other terms")
	}
	if got := benchtest.Lines(t, base+".documents"); len(got) != SmallDocs || !slices.IsSorted(got) {
		t.Errorf("%d document names", len(got))
	}
	tabbed, pisa := benchtest.Lines(t, base+".queries"), benchtest.Lines(t, base+".queries.pisa")
	if len(tabbed) != len(w.Queries) || len(pisa) != len(w.Queries) {
		t.Fatalf("%d and %d queries, want %d", len(tabbed), len(pisa), len(w.Queries))
	}
	for i, q := range w.Queries {
		var terms []string
		for _, h := range q {
			terms = append(terms, w.Terms[h])
		}
		id, text, _ := strings.Cut(tabbed[i], "\t")
		if id != strconv.Itoa(i+1) || !slices.Equal(strings.Fields(text), terms) || pisa[i] != id+":"+text {
			t.Fatalf("query %d: %q and %q, want %v", i+1, tabbed[i], pisa[i], terms)
		}
	}

	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 7 || strings.Count(names.String(), "\n") != 7 {
		t.Errorf("%d files, %v, on stdout:\n%s", len(files), err, &names)
	}
}

// failAfter is a context that reports cancellation after a number of calls of Err.
type failAfter struct {
	context.Context
	left int
}

func (f *failAfter) Err() error {
	if f.left--; f.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestExportLeavesNothing(t *testing.T) {
	w := workload(t, Clustered)
	dir := t.TempDir()
	files := &exported{}
	err := w.export(&failAfter{context.Background(), 100}, files, filepath.Join(dir, "x"))
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("after cancelling: %v", err)
	}
	if err := files.finish(false, io.Discard); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}

	blocked := filepath.Join(dir, "file")
	if err := os.WriteFile(blocked, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Export(context.Background(), ExportOptions{Dir: blocked, Short: true}, io.Discard, io.Discard); err == nil {
		t.Error("a file in place of the folder: no error")
	}
}
