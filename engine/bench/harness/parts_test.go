package harness

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
)

// TestParts: a run that fails in its second collection goes on there, without the workload of
// the first one, and reads what it has for exhibits that ask for their figures.
func TestParts(t *testing.T) {
	dir := t.TempDir()
	var done []string
	fail := "BD"
	family := Family{Name: "lists", Exhibits: func(r *Runner) []Exhibit {
		set := ""
		r.OnData(func(_ context.Context, d workload.DataSet) (string, error) {
			set = d.Name
			done = append(done, "make "+set)
			return set, nil
		}, func() string { return "checked" })
		run := func(name string) func(context.Context) error {
			return func(context.Context) error {
				done = append(done, name+" "+set)
				r.Put(Reading{Panel: "p", Series: set, At: "x", Row: measure.Single(1).Into(measure.Row{Metric: "m", Unit: "u"})})
				if set == fail && name == "b" {
					return errors.New("interrupted")
				}
				if n := len(r.Measured()); set == "BD" && n != 2 {
					t.Errorf("%s: %d figures", name, n)
				}
				return nil
			}
		}
		data := func(*Options) []workload.DataSet { return []workload.DataSet{{Name: "GOV"}, {Name: "BD"}} }
		return []Exhibit{{Name: "a", Run: run("a"), Data: data}, {Name: "b", Run: run("b"), Data: data}, {Name: "one", Run: run("one")}}
	}}
	runAll := func() error {
		return family.Run(t.Context(), Options{Backend: "host", Parts: dir}, io.Discard, io.Discard)
	}
	if err := runAll(); err == nil || !strings.Contains(err.Error(), "b: interrupted") {
		t.Fatal(err)
	}
	if want := "one |make GOV|a GOV|b GOV|make BD|a BD|b BD"; strings.Join(done, "|") != want {
		t.Errorf("%q, want %q", done, want)
	}
	fail, done = "", nil
	if err := runAll(); err != nil {
		t.Fatal(err)
	}
	if want := "make BD|b BD"; strings.Join(done, "|") != want {
		t.Errorf("resumed: %q, want %q", done, want)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range files {
		files[i] = filepath.Base(path)
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := measure.ReadRows(f)
		if f.Close(); err != nil || len(rows) != 2 || rows[0].Place == nil || rows[1].Metric != "wall" {
			t.Errorf("%s: %+v, %v", path, rows, err)
		}
	}
	if want := []string{"a-bd.jsonl", "a-gov.jsonl", "b-bd.jsonl", "b-gov.jsonl", "one.jsonl"}; !slices.Equal(files, want) {
		t.Errorf("files %v, want %v", files, want)
	}
}
