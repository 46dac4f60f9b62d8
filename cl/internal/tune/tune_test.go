package tune

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/cl/internal/lists"
	"heddle/cl/internal/match"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// rowBackend is a backend with a tuning row and no operations.
type rowBackend struct {
	Backend
	row *device.Tuning
}

func (rowBackend) Close() error { return nil }

// TestPart leaves the best setting in the row and drops settings that fail.
func TestPart(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, device.Operations{lists.Operation, match.Operation}).With(func(_ *plan.Info, r *device.Tuning) { r.WG = 32 })
	open := func(_ context.Context, _ *device.Device, opt device.Options) (Backend, error) {
		return rowBackend{row: opt.Tuning}, nil
	}
	failing := errors.New("wrong answer")
	var tried []Step
	tu := &tuner{ctx: t.Context(), measuring: t.Context(), began: time.Now(), d: d, row: d.Tuning(), work: &work{}, opt: Options{Open: open, Tried: func(s Step) { tried = append(tried, s) }}}
	p := part{"p", "x", []knob{
		{name: "wg", field: func(t *device.Tuning) *int { return &t.WG }, values: []int{64, 65, 256}},
		{name: "tile", field: func(t *device.Tuning) *int { return &t.Tile }, values: []int{128, 256}},
	}, 2, 1, 1, func(_ *work, _ context.Context, b Backend) (float64, error) {
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
	for dev, want := range map[string]string{"NVIDIA H200": "nvidia-h200", "  pthread-AMD EPYC (x)": "pthread-amd-epyc-x", "—": "device"} {
		if got := rowName(dev); got != want {
			t.Errorf("%q: %q", dev, got)
		}
	}
}

// newTuner makes a tuner of a part whose only knob is wg. A row has the rate value(wg).
func newTuner(t *testing.T, value func(wg int) float64) (*tuner, part) {
	d := devicetest.Find(t, device.Operations{lists.Operation, match.Operation}).With(func(_ *plan.Info, r *device.Tuning) { r.WG = 64 })
	open := func(_ context.Context, _ *device.Device, opt device.Options) (Backend, error) {
		return rowBackend{row: opt.Tuning}, nil
	}
	p := part{"p", "x", []knob{{name: "wg", field: func(t *device.Tuning) *int { return &t.WG }, values: []int{32, 64, 128}}}, 1, 1, 1,
		func(_ *work, _ context.Context, b Backend) (float64, error) {
			return value(b.(rowBackend).row.WG), nil
		}}
	return &tuner{ctx: t.Context(), measuring: t.Context(), began: time.Now(), d: d, row: d.Tuning(), work: &work{}, opt: Options{Open: open}}, p
}

// TestCompare takes a setting back that is not faster than the row in force when both are measured in turn.
func TestCompare(t *testing.T) {
	for name, c := range map[string]struct{ found, want int }{"faster": {128, 128}, "slower": {32, 64}, "the same": {64, 64}} {
		tu, p := newTuner(t, func(wg int) float64 { return float64(wg) })
		tu.row.WG = c.found
		tu.row.Slots = 7
		if err := tu.compare([]part{p}); err != nil || tu.row.WG != c.want || tu.row.Slots != 7 {
			t.Errorf("%s: %v, row %+v", name, err, tu.row)
		}
	}
}

// TestPartLimit tries nothing but the row in force after the time of the part, and everything with Every.
func TestPartLimit(t *testing.T) {
	for _, every := range []bool{false, true} {
		tried := 0
		tu, p := newTuner(t, func(wg int) float64 { return float64(wg) })
		tu.opt.Limit, tu.opt.Every, tu.opt.Tried = 1, every, func(Step) { tried++ }
		want, wg := 1, 64
		if every {
			want, wg = 3, 128
		}
		if err := tu.part(p); err != nil || tried != want || tu.row.WG != wg {
			t.Errorf("every %t: %v, %d settings, row %+v", every, err, tried, tu.row)
		}
	}
}

// TestLimit ends with the settings of the row in force on a device that hangs.
func TestLimit(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, device.Operations{lists.Operation, match.Operation})
	hang := make(chan struct{})
	defer close(hang)
	open := func(context.Context, *device.Device, device.Options) (Backend, error) {
		<-hang
		return nil, errors.New("the test is over")
	}
	ended := make(chan error)
	go func() {
		row, err := Tune(t.Context(), d, Options{Short: true, Limit: 50 * time.Millisecond, Open: open})
		if want := d.Tuning(); err == nil && (row.WG != want.WG || row.Tile != want.Tile || row.Batch != want.Batch || row.Name == want.Name) {
			err = fmt.Errorf("row %+v", row)
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it still waits for the device")
	}
}
