package shard

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"heddle/cl"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/plantest/matchtest"
	"heddle/engine/plan/plantest/ranktest"
	"heddle/engine/plan/testneeds"
	"heddle/hostfallback"
)

// split is a backend that spreads its loads over others.
type split struct {
	plan.Backend // its description
	over         []plan.Backend
}

func (b *split) Load(ctx context.Context, src *plan.Source) (plan.Store, error) {
	return Load(ctx, src, b.over)
}

func (b *split) Close() error {
	var errs []error
	for _, x := range b.over {
		errs = append(errs, x.Close())
	}
	return errors.Join(errs...)
}

func onHost(n int) *split {
	b := &split{}
	for range n {
		b.over = append(b.over, hostfallback.New(hostfallback.Options{Threads: 1}))
	}
	b.Backend = b.over[0]
	return b
}

// TestSuite runs the conformance suite over parts in pure Go. With -short it runs one number of
// parts.
func TestSuite(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			ranked := false
			opt := plantest.Options{Small: true, Corrupt: true, Algorithms: []plan.Algorithm{plan.Auto, plan.Bits}}
			switch {
			case testing.Short() && n != 2:
				t.Skip("takes long: not with -short")
			case testing.Short():
				opt.Corrupt, opt.Algorithms, opt.Codecs = false, opt.Algorithms[:1], []codec.ID{codec.Raw, codec.ParaPFor, codec.Bitset}
			case n == 3:
				ranked, opt.Algorithms = true, nil
			}
			open := func(*testing.T) plan.Backend { return onHost(n) }
			matchtest.Run(t, open, opt)
			if ranked {
				ranktest.Run(t, open, opt)
			}
		})
	}
}

// devices finds the devices that the environment asks for.
func devices(t *testing.T) []*cl.Device {
	t.Helper()
	testneeds.OneCaller(t)
	device := testneeds.Device(t)
	found, err := cl.Devices(device)
	if err != nil || len(found) == 0 {
		t.Fatalf("HEDDLE_TEST_BACKEND=opencl, but no device matches %q: %v", device, err)
	}
	return found
}

// onDevices opens two of them, or the only one twice.
func onDevices(t *testing.T, found []*cl.Device) *split {
	t.Helper()
	b := &split{}
	for i := range 2 {
		x, err := cl.Open(t.Context(), found[i%len(found)], cl.Options{SkipSelfTest: true})
		if err != nil {
			t.Fatal(err)
		}
		b.over = append(b.over, x)
	}
	b.Backend = b.over[0]
	return b
}

// TestDevices compares shards on devices with the whole in pure Go.
func TestDevices(t *testing.T) {
	b := onDevices(t, devices(t))
	w := random(t, 20_000, 500, 12)
	s, err := b.Load(t.Context(), &w.Source)
	if err != nil {
		t.Fatal(err)
	}
	w.compare(t, s)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// TestDevicesSuite runs the suite of all backends over them.
func TestDevicesSuite(t *testing.T) {
	found := devices(t)
	testneeds.Long(t)
	open := func(t *testing.T) plan.Backend { return onDevices(t, found) }
	opt := plantest.Options{
		Small: true, Algorithms: []plan.Algorithm{plan.Auto, plan.MergePath}, Codecs: []codec.ID{codec.Raw, codec.ParaPFor, codec.Bitset}}
	matchtest.Run(t, open, opt)
	ranktest.Run(t, open, opt)
}
