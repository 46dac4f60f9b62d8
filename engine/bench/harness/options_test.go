package harness

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/bench/workload"
)

func TestOptions(t *testing.T) {
	none := Family{Name: "none", Exhibits: func(*Runner) []Exhibit { return nil }}
	for _, bad := range []Options{{Backend: "cuda"}, {Runs: -1}, {Queries: -1}, {Threads: -1}} {
		if err := none.Run(context.Background(), bad, io.Discard, io.Discard); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
	if err := none.Run(context.Background(), Options{JSON: filepath.Join(t.TempDir(), "no", "such")}, io.Discard, io.Discard); err == nil {
		t.Error("a JSON file in no folder: no error")
	}
	o, err := Options{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if o.QueryCount("gpu") != GPUQueries || o.QueryCount("cpu") != cpuQueries || len(o.Thresholds("gpu")) != 11 || len(o.Thresholds("cpu")) != 8 ||
		o.QueryCountAt("gpu", 0) != GPUQueries || o.QueryCountAt("gpu", 8<<10) != 1024 || o.QueryCountAt("gpu", 8<<20) != GPUQueries || o.Themes != workload.MaxThemes {
		t.Errorf("defaults %+v", o)
	}
	if o, err = (Options{Short: true}).withDefaults(); err != nil || o.QueryCount("gpu") != ShortQueries || o.Themes != 1 || len(o.Thresholds("gpu")) != 2 {
		t.Errorf("short defaults %+v, %v", o, err)
	}
}

// full is a writer without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

// TestUnwrittenRow ends a run whose rows cannot be written.
func TestUnwrittenRow(t *testing.T) {
	second := false
	f := Family{Name: "none", Exhibits: func(r *Runner) []Exhibit {
		return []Exhibit{
			{Name: "first", Run: func(context.Context) error { r.Put(Reading{}); return nil }},
			{Name: "second", Run: func(context.Context) error { second = true; return nil }},
		}
	}}
	err := f.Run(context.Background(), Options{JSON: "-"}, full{}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "first: no room") || second {
		t.Errorf("rows without room: %v, second exhibit %t", err, second)
	}
}
