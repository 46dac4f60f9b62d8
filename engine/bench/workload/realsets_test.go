package workload

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine/bench/benchtest"
)

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
	dir := benchtest.Data(t)
	sets, err := ReadSets(dir)
	if err != nil || len(sets) != 1 || sets[0].Name != "small" || len(sets[0].Lists) != 3 || sets[0].Postings() != 9 {
		t.Fatalf("%+v, %v", sets, err)
	}
	benchtest.WriteZip(t, filepath.Join(dir, "bad.zip"), "1", "2,1")
	if _, err := ReadSets(dir); err == nil || !strings.Contains(err.Error(), "bad.zip: set1.txt: 1 comes after 2") {
		t.Errorf("a set that descends: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bad.zip"), []byte("no zip"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSets(dir); !errors.Is(err, zip.ErrFormat) {
		t.Errorf("no zip: %v", err)
	}
	if _, err := ReadSets(t.TempDir()); err == nil {
		t.Error("an empty folder: no error")
	}
	if sets, err := ReadSets(""); err != nil || len(sets) != 0 {
		t.Errorf("no folder: %v, %v", sets, err)
	}
}
