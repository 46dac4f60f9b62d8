package harness

import (
	"context"
	"io"
	"path/filepath"
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
		o.QueryCountAt("gpu", 0) != GPUQueries || o.QueryCountAt("gpu", 8<<10) != 4096 || o.QueryCountAt("gpu", 1<<20) != GPUQueries || o.Themes() != workload.MaxThemes {
		t.Errorf("defaults %+v", o)
	}
	if o, err = (Options{Short: true}).withDefaults(); err != nil || o.QueryCount("gpu") != ShortQueries || o.Themes() != 1 || len(o.Thresholds("gpu")) != 2 {
		t.Errorf("short defaults %+v, %v", o, err)
	}
}
