package cl

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

// TestTune measures in the short way: every part has a best setting, nothing that
// the row in force allows fails, and the row can be written, read and opened.
func TestTune(t *testing.T) {
	if small() {
		t.Skip("HEDDLE_TEST_SMALL=1")
	}
	d := testDevice(t)
	steps := map[string]int{}
	best := map[string]bool{}
	row, err := Tune(t.Context(), d, TuneOptions{Short: true, Tried: func(s TuneStep) {
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
	backend, err := Open(t.Context(), again[0], Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := backend.Close(); err != nil {
		t.Error(err)
	}
}

// TestTuneStops ends early when it is told to, and with what fails at the row in
// force.
func TestTuneStops(t *testing.T) {
	d := testDevice(t)
	ctx, stop := context.WithCancel(t.Context())
	if _, err := Tune(ctx, d, TuneOptions{Short: true, Tried: func(TuneStep) { stop() }}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	poor := *d
	poor.info.MaxAlloc = 1 << 10
	if _, err := Tune(t.Context(), &poor, TuneOptions{Short: true}); err == nil || !strings.Contains(err.Error(), "decode") {
		t.Errorf("a device without memory: %v", err)
	}
}

// TestPart leaves the best setting in the row and what fails out.
func TestPart(t *testing.T) {
	d := *testDevice(t)
	d.tuning.WG = 32
	failing := errors.New("wrong answer")
	var tried []TuneStep
	tu := &tuner{ctx: t.Context(), d: &d, row: d.tuning, opt: TuneOptions{Tried: func(s TuneStep) { tried = append(tried, s) }}}
	p := part{"p", "x", []knob{
		{name: "wg", field: func(t *Tuning) *int { return &t.WG }, values: []int{64, 65, 256}},
		{name: "tile", field: func(t *Tuning) *int { return &t.Tile }, values: []int{128, 256}},
	}, 2, 1, func(_ *tuneWork, _ context.Context, b *Backend) (float64, error) {
		if b.tuning.WG == 256 {
			return 1000, failing
		}
		if b.tuning.Tile == 128 {
			return 50, nil
		}
		return 10 - 1/float64(b.tuning.WG), nil // less than the noise apart
	}}
	if err := tu.part(p); err != nil {
		t.Fatal(err)
	}
	if tu.row.Tile != 128 || tu.row.WG == 256 || len(tu.figures) != 1 || !strings.Contains(tu.figures[0], "50 x") {
		t.Errorf("row %+v, figures %q", tu.row, tu.figures)
	}
	seen := map[string]int{}
	for _, s := range tried {
		if seen[s.Setting]++; seen[s.Setting] > 1 {
			t.Errorf("%s is tried again", s.Setting)
		}
		if strings.Contains(s.Setting, "wg=65 ") || s.Best && s.Err != nil || (s.Err != nil) != strings.Contains(s.Setting, "wg=256 ") {
			t.Errorf("%+v", s)
		}
	}
}

func TestTuneName(t *testing.T) {
	for device, want := range map[string]string{"NVIDIA H200": "nvidia-h200", "  pthread-AMD EPYC (x)": "pthread-amd-epyc-x", "—": "device"} {
		if got := tuneName(device); got != want {
			t.Errorf("%q: %q", device, got)
		}
	}
}
