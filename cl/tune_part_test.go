package cl

import (
	"context"
	"errors"
	"heddle/engine/plan"
	"strings"
	"testing"
)

// rowBackend is a backend with a tuning row and no operations.
type rowBackend struct {
	tuneBackend
	row *Tuning
}

func (rowBackend) Close() error { return nil }

// TestPart leaves the best setting in the row and what fails out.
func TestPart(t *testing.T) {
	d := testDevice(t, operations{listsOperation, matchOperation}).with(func(_ *plan.Info, r *Tuning) { r.WG = 32 })
	open := func(_ context.Context, _ *Device, opt deviceOptions) (tuneBackend, error) {
		return rowBackend{row: opt.Tuning}, nil
	}
	failing := errors.New("wrong answer")
	var tried []TuneStep
	tu := &tuner{ctx: t.Context(), d: d, row: d.Tuning(), work: &tuneWork{}, opt: tuneOptions{Open: open, Tried: func(s TuneStep) { tried = append(tried, s) }}}
	p := part{"p", "x", []knob{
		{name: "wg", field: func(t *Tuning) *int { return &t.WG }, values: []int{64, 65, 256}},
		{name: "tile", field: func(t *Tuning) *int { return &t.Tile }, values: []int{128, 256}},
	}, 2, 1, func(_ *tuneWork, _ context.Context, b tuneBackend) (float64, error) {
		row := b.(rowBackend).row
		if row.WG == 256 {
			return 1000, failing
		}
		if row.Tile == 128 {
			return 50, nil
		}
		return 10 - 1/float64(row.WG), nil // less than the noise apart
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
