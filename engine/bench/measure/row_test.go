package measure

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestJSONFile: an existing file stays until the rows are complete. After an error it
// remains, with the rows so far in a partial file beside it.
func TestJSONFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.json")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, failure := range []error{errors.New("stopped"), nil} {
		w, err := Open(path, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(Row{Bench: "lists"}, Row{Bench: "decode"}); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
			t.Fatalf("before the end: %q, %v", got, err)
		}
		if err := w.Close(failure); !errors.Is(err, failure) {
			t.Fatalf("close: %v, want %v", err, failure)
		}
		done := path
		if failure != nil {
			done += Unfinished
		}
		if rows := rowsOf(t, done); len(rows) != 2 || rows[1].Bench != "decode" {
			t.Fatalf("after %v: %+v", failure, rows)
		}
	}
	if _, err := os.Stat(path + Unfinished); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the unfinished file: %v", err)
	}
}

func rowsOf(t *testing.T, path string) []Row {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := ReadRows(f)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestReadRows(t *testing.T) {
	for _, bad := range []string{"{", `{"bench":1}`, `{"colour":"red"}`} {
		if rows, err := ReadRows(strings.NewReader(bad)); err == nil {
			t.Errorf("%s: %v", bad, rows)
		}
	}
}
