// Package benchtest writes small data sets for tests of benchmarks, and checks pictures.
package benchtest

import (
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// WriteZip writes a zip with one member for each text.
func WriteZip(t *testing.T, path string, texts ...string) {
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

// WriteCollection writes documents of different lengths, and topics. One topic has a
// word that no document contains.
func WriteCollection(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "words.tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	for i := range 500 {
		fmt.Fprintf(z, "d%d\tthe %s and the %s%s\n", i, []string{"loom", "weft", "warp"}[i%3], []string{"shuttle", "heddle"}[i%2], strings.Repeat(" yarn", i/6))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	topics := filepath.Join(dir, "topics")
	if err := os.Mkdir(topics, 0o777); err != nil {
		t.Fatal(err)
	}
	text := "1:the loom\n2:Heddle weft\n3:weft heddle heddle\n4:loom\n5:shuttle of zeus\n"
	if err := os.WriteFile(filepath.Join(topics, "topics.terabyte.txt"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Data creates a folder of real data: a set of three lists, a collection with topics,
// and tables.
func Data(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	WriteZip(t, filepath.Join(dir, "small.zip"), "1,5,9,1000", "5,9,70000\n", "0,5")
	WriteCollection(t, dir)
	WriteTables(t, dir)
	return dir
}

// Lines reads the lines of a file. The last one must end with a newline.
func Lines(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, ended := strings.CutSuffix(string(b), "\n")
	if !ended {
		t.Fatalf("%s does not end with a line", path)
	}
	return strings.Split(text, "\n")
}
