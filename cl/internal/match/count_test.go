package match

import (
	"errors"
	"testing"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/cl/internal/primitive"
	"heddle/engine/plan"
)

// TestCount adds up the matches of tiles, or of the queries of PART. More matches than candidates are an error.
func TestCount(t *testing.T) {
	x := &slot{Flight: device.Flight{Device: &device.Runtime{}, Down: &device.Pinned{Words: []uint32{3, 0, 4, 1<<32 - 1}}}}
	for _, c := range []struct {
		round   round
		matches int // -1: an error
	}{
		{round{tiles: 3, candidates: 8}, 7}, {round{tiles: 3, candidates: 7}, 7}, {round{tiles: 3, candidates: 6}, -1},
		{round{tiles: 3, parts: 2, candidates: 3}, 3}, {round{tiles: 1, parts: 3, candidates: 2}, -1},
		{round{tiles: 4, candidates: 100}, -1}, {round{tiles: 4, candidates: 1<<32 + 6}, 1<<32 + 6},
	} {
		x.round, x.matches = c.round, -1
		err := x.count()
		if failed, ok := errors.AsType[*plan.DeviceError](err); x.matches != c.matches || (err != nil) != (c.matches < 0) || ok && failed.Kind != plan.ErrDeviceLost {
			t.Errorf("%d tiles, %d parts, %d candidates: %d matches, %v", c.round.tiles, c.round.parts, c.round.candidates, x.matches, err)
		}
	}
}

// TestEnqueueFails clears the state of look-back after a round that was not sent, whose groups drew no tickets.
func TestEnqueueFails(t *testing.T) {
	d := devicetest.Find(t, ops)
	rt, faults := devicetest.OpenFaulty(t, d, d.Tuning())
	x := &slot{Flight: device.NewFlight(rt, rt.Memory), round: round{tiles: 1}}
	defer x.Flight.Release()
	var err error
	if x.Queue, err = rt.NewQueue(); err != nil {
		t.Fatal(err)
	}
	if x.look, err = primitive.NewLookBack(rt, rt.Memory, 1); err != nil {
		t.Fatal(err)
	}
	defer x.look.Release()
	if err := rt.Do(func() error {
		_, _, err := x.look.Begin(&x.Flight, 1)
		return err
	}); err != nil || x.look.Fresh() {
		t.Fatal(err)
	}
	faults.Arm("enqueue", 1, ocl.ErrOutOfHostMemory)
	if err := x.enqueue(); err == nil || !x.look.Fresh() {
		t.Errorf("the next round waits for tickets: %v", err)
	}
}
