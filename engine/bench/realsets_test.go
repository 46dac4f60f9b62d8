package bench

import (
	"archive/zip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// writeZip makes a zip of a member for each text.
func writeZip(t *testing.T, path string, texts ...string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for i, text := range texts {
		w, err := z.Create("set" + strconv.Itoa(i) + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestReadSet(t *testing.T) {
	for text, want := range map[string][]uint32{"": nil, "7": {7}, "1,2,4294967294\n": {1, 2, 1<<32 - 2}, "1,\n2,": {1, 2}} {
		if got, err := readSet(strings.NewReader(text)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, message := range map[string]string{"1,1": "1 comes after 1", "5,3": "3 comes after 5", "x": "invalid syntax", "4294967296": "out of range", "4294967295": "no docID", "-1": "invalid syntax"} {
		if _, err := readSet(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%q: %v, want %q", text, err, message)
		}
	}
}

func TestRealSets(t *testing.T) {
	dir := testSets(t)
	s := &session{opt: Options{Real: dir}}
	sets, err := s.realSets()
	if err != nil || len(sets) != 1 || sets[0].name != "small" || len(sets[0].lists) != 3 || sets[0].postings() != 9 {
		t.Fatalf("%+v, %v", sets, err)
	}
	writeZip(t, filepath.Join(dir, "bad.zip"), "1", "2,1")
	if _, err := (&session{opt: Options{Real: dir}}).realSets(); err == nil || !strings.Contains(err.Error(), "bad.zip: set1.txt: 1 comes after 2") {
		t.Errorf("a set that descends: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bad.zip"), []byte("no zip"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := (&session{opt: Options{Real: dir}}).realSets(); !errors.Is(err, zip.ErrFormat) {
		t.Errorf("no zip: %v", err)
	}
	if _, err := (&session{opt: Options{Real: t.TempDir()}}).realSets(); err == nil {
		t.Error("an empty folder: no error")
	}
	if sets, err := (&session{}).realSets(); err != nil || len(sets) != 0 {
		t.Errorf("no folder: %v, %v", sets, err)
	}
	if err := realFolder(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if err := realFolder(filepath.Join(dir, "bad.zip")); err == nil {
		t.Error("a file in place of a folder: no error")
	}
}

// TestRace: ways that disagree are an error, and all of ours agree with the peer.
func TestRace(t *testing.T) {
	s := &session{opt: Options{Runs: 1, Threads: 2}, rows: &rowWriter{}, readings: make(map[string][]reading), now: &exhibit{name: "sets"}}
	gives := func(n uint64) func() (uint64, error) { return func() (uint64, error) { return n, nil } }
	err := s.race(collection{name: "c"}, "AND", []wholeAnswer{{series: "a", run: gives(1)}, {series: "b", run: gives(2)}})
	if err == nil || err.Error() != "b gives 2 docIDs, a gives 1" {
		t.Errorf("%v", err)
	}
	c := collection{name: "some", lists: [][]uint32{{1, 2, 3, 70000}, {2, 3}, {3, 5, 70000}, nil}}
	for range 2 { // again: nothing is left over
		if err := s.realSet(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	and, or, closeAll, err := s.ourAnswers(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll()
	bitmaps := make([]*roaring.Bitmap, len(c.lists))
	pairs := uint64(0)
	for i, l := range c.lists {
		bitmaps[i] = roaring.BitmapOf(l...)
		if i > 0 {
			pairs += bitmaps[i-1].AndCardinality(bitmaps[i])
		}
	}
	for _, want := range []struct {
		ways []wholeAnswer
		n    uint64
	}{{and, pairs}, {or, roaring.FastOr(bitmaps...).GetCardinality()}} {
		if len(want.ways) != 4 {
			t.Errorf("%d ways", len(want.ways))
		}
		for _, w := range want.ways {
			if n, err := w.run(); err != nil || n != want.n {
				t.Errorf("%s: %d, %v, want %d", w.series, n, err, want.n)
			}
		}
	}
}
