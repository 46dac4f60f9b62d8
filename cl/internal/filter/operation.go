package filter

import (
	"context"
	"slices"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/engine/plan"
)

// Operation registers the kernels of filters. New sets are tested when a device makes its first one.
var Operation = device.Operation{
	Name:     "filter",
	Programs: []device.Program{{Kernels: []device.Function{listing}, Files: device.Files("filter.cl")}},
	Limits:   func(t device.Tuning) (local, group int) { return 4 * (1 + 128), workGroup(t) },
	Describe: func(_ device.Tuning, info *plan.Info) { info.Filters = true },
}

// workGroup is FILTER_WG of the kernels.
func workGroup(t device.Tuning) int { return t.Local(128) }

// tested is the key of the self-test.
type tested struct{}

// selfTestOnce makes sets of few and of many documents and compares them with plain Go.
func selfTestOnce(ctx context.Context, rt *device.Runtime) error {
	return device.TestOnce(ctx, rt, []tested{{}}, func([]tested) error {
		for _, every := range []uint32{7, 500} {
			const universe = 20_000
			set := make([]uint64, plan.FilterWords(universe))
			var docs []uint32
			for d := every - 1; d < universe; d += every {
				set[d/64] |= 1 << (d % 64)
				docs = append(docs, d)
			}
			s, err := upload(ctx, rt, universe, set)
			if err != nil {
				return err
			}
			got, err := s.read()
			if err == nil && s.listed != (every > sparse) || s.listed && !slices.Equal(got, docs) {
				err = rt.FailedTest("a filter of %d documents: %d docIDs are listed, or wrong ones", len(docs), len(got))
			}
			_ = s.Close()
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// read downloads the docIDs of a listed set.
func (s *Set) read() (docs []uint32, err error) {
	if !s.listed || s.count == 0 {
		return nil, nil
	}
	x := device.NewFlight(s.rt, s.rt.Memory)
	defer x.Release()
	if err := x.Open(unit, int(s.count)); err != nil {
		return nil, err
	}
	err = s.rt.Regions.Fill(func(m *ocl.MemObject) error {
		defer x.ReleaseEvents()
		if err := s.rt.Do(func() error { return x.ReadAt(m, unit*int(s.docs[0]), 0, int(s.count)) }); err != nil {
			return s.rt.Fail("reading a filter", err)
		}
		return x.WaitHere(x.Last())
	})
	return slices.Clone(x.Down.Words[:s.count]), err
}
