package cl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/cl/internal/tune"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// TestTune measures in the short way: every part has a best setting, nothing that
// the row in force allows fails, and the row can be written, read and opened.
func TestTune(t *testing.T) {
	if devicetest.Small() {
		t.Skip("takes long: not with -short")
	}
	d := devicetest.Find(t, everything)
	steps := map[string]int{}
	best := map[string]bool{}
	row, err := Tune(t.Context(), d, TuneOptions{Short: true, Limit: time.Hour, Tried: func(s tune.Step) {
		if s.Err == nil && s.Value <= 0 || s.Part == "" || s.Unit == "" || s.Setting == "" && s.Part != "decode" {
			t.Errorf("%+v", s)
		}
		if s.Err != nil && steps[s.Part] == 0 {
			t.Errorf("the row in force: %+v", s)
		}
		steps[s.Part]++
		best[s.Part] = best[s.Part] || s.Best
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"decode", "probe", "scan", "merge", "rounds", "batch"} {
		if !best[part] {
			t.Errorf("%s: no best of %d settings", part, steps[part])
		}
	}
	if steps["merge_least"] < 2 || row.Batch == 0 || row.Why == "" {
		t.Errorf("%d steps for merge_least, row %+v", steps["merge_least"], row)
	}
	var b bytes.Buffer
	if err := WriteTuning(&b, row); err != nil {
		t.Fatal(err)
	}
	rows, err := ReadTunings(write(t, b.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	again, err := Devices(d.Info().Device, rows...)
	if err != nil || len(again) == 0 || again[0].Tuning().Name != row.Name {
		t.Fatalf("the row does not match its device: %v, %v", again, err)
	}
	backend, err := device.Open(t.Context(), again[0], device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := backend.Close(); err != nil {
		t.Error(err)
	}
}

// TestTuneFindsBest compares the row of Tune with the best settings of all, part by part, measured in turn. On a CPU
// the times of kernels are processor times, by a library between heddle and the driver, and no limit cuts the search.
func TestTuneFindsBest(t *testing.T) {
	if !testneeds.Full() {
		t.Skip("measures for minutes: only with HEDDLE_TEST_FULL")
	}
	d := devicetest.Find(t, everything)
	if d.Info().Type == "cpu" && os.Getenv("HEDDLE_TEST_UNLIKE") == "" {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTuneFindsBest$", "-test.v", "-test.timeout=0", fmt.Sprintf("-test.short=%t", testing.Short()))
		c.Env = append(os.Environ(), "HEDDLE_TEST_UNLIKE=1", "HEDDLE_OPENCL_LIBRARY="+newLayer(t), "HEDDLE_TEST_LAYER=processor")
		if c.Stdout, c.Stderr = t.Output(), t.Output(); c.Run() != nil {
			t.Error("see above")
		}
		return
	}
	limit := time.Duration(0)
	if d.Info().Type == "cpu" {
		limit = time.Hour
	}
	began := time.Now()
	row, err := Tune(t.Context(), d, TuneOptions{Short: testing.Short(), Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v: %s", time.Since(began), row.Why)
	found := d.With(func(_ *plan.Info, r *device.Tuning) { *r = row })
	rates := map[string][2]float64{} // of the row and of the best settings
	if _, err := Tune(t.Context(), found, TuneOptions{Short: testing.Short(), every: true, Tried: func(s tune.Step) {
		t.Logf("%+v", s)
		r := rates[s.Part]
		if strings.HasPrefix(s.Setting, "in force: ") {
			r[0] = s.Value
		} else if strings.HasPrefix(s.Setting, "found: ") {
			r[1] = s.Value
		}
		rates[s.Part] = r
	}}); err != nil {
		t.Fatal(err)
	}
	for part, r := range rates {
		if r[1] > 0 {
			t.Logf("%s: %.3f of the best", part, r[0]/r[1])
		}
		if r[0] < 0.95*r[1] {
			t.Errorf("%s: the row has %.4g, the best settings have %.4g", part, r[0], r[1])
		}
	}
}

// TestTuneStops ends when its context ends, and with the error of the row in force.
func TestTuneStops(t *testing.T) {
	d := devicetest.Find(t, everything)
	ctx, stop := context.WithCancel(t.Context())
	if _, err := Tune(ctx, d, TuneOptions{Short: true, Tried: func(tune.Step) { stop() }}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	poor := d.With(func(i *plan.Info, _ *device.Tuning) { i.MaxAlloc = 1 << 10 })
	if _, err := Tune(t.Context(), poor, TuneOptions{Short: true}); err == nil || !strings.Contains(err.Error(), "decode") {
		t.Errorf("a device without memory: %v", err)
	}
}
