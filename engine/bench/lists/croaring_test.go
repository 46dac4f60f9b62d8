package lists

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const output = "and 12.5 3 77\nand-count 2 3 0\nor 9 10 78\nor-count 1.25 10 0\n"

func TestParse(t *testing.T) {
	got, err := parseAnswers(output)
	if err != nil || len(got) != 4 || got["and"] != (roaringAnswer{12.5, 3, 77}) || got["or-count"] != (roaringAnswer{1.25, 10, 0}) {
		t.Errorf("%+v, %v", got, err)
	}
	for text, want := range map[string]string{
		"":                                "answers of 0 operations, not 4",
		"or 9 10 78\n":                    "line 1",
		output + "and 1 1 1\n":            "line 5",
		"and 12.5 3\n":                    "line 1",
		"and x 3 77\n":                    `"x"`,
		"and 12.5 3 77\nand-count 2 -3 0": "line 2",
	} {
		if _, err := parseAnswers(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// FuzzParse: any output gives an error or an answer of each operation.
func FuzzParse(f *testing.F) {
	f.Add(output)
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := parseAnswers(text); err == nil && len(got) != len(operations) {
			t.Fatalf("%+v", got)
		}
	})
}

func TestNoLibrary(t *testing.T) {
	prefix := t.TempDir()
	if _, err := buildDriver(t.Context(), prefix, t.TempDir()); err == nil || !strings.Contains(err.Error(), "--croaring "+prefix) {
		t.Errorf("an empty folder: %v", err)
	}
	t.Setenv("CC", filepath.Join(prefix, "no-compiler"))
	if err := os.Mkdir(filepath.Join(prefix, "lib"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(prefix, "lib", "libroaring.a"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := buildDriver(t.Context(), prefix, t.TempDir()); err == nil || !strings.Contains(err.Error(), "no-compiler") {
		t.Errorf("no compiler: %v", err)
	}
}

// TestDriver runs the driver if HEDDLE_CROARING names the prefix of an installation.
func TestDriver(t *testing.T) {
	prefix := os.Getenv("HEDDLE_CROARING")
	if prefix == "" {
		t.Skip("HEDDLE_CROARING does not name the prefix of an installation of CRoaring")
	}
	d, err := buildDriver(t.Context(), prefix, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "lists")
	if err := writeLists(path, [][]uint32{{1, 5, 70_000}, {5, 6, 70_000}, {}, {9}}); err != nil {
		t.Fatal(err)
	}
	got, err := d.Run(t.Context(), path, 3)
	if err != nil {
		t.Fatal(err)
	}
	and, or := driverDigest([]uint32{5, 70_000}), driverDigest([]uint32{1, 5, 6, 9, 70_000})
	for name, want := range map[string]roaringAnswer{"and": {0, 2, and}, "and-count": {0, 2, 0}, "or": {0, 5, or}, "or-count": {0, 5, 0}} {
		if a := got[name]; a.Matches != want.Matches || a.Digest != want.Digest || a.Micros <= 0 {
			t.Errorf("%s: %+v, want %+v", name, a, want)
		}
	}
	if _, err := d.Run(t.Context(), path+".missing", 3); err == nil || !strings.Contains(err.Error(), "No such file") {
		t.Errorf("no file: %v", err)
	}
}
