package bitmap

import (
	"context"
	"sync"

	"heddle/cl/internal/device"
	"heddle/engine/plan"
)

// preparing is the work of Store.Prepare.
type preparing struct {
	cancel context.CancelFunc // nil before Prepare
	work   sync.WaitGroup
}

// end ends the work and waits for it.
func (p *preparing) end() {
	if p.cancel != nil {
		p.cancel()
	}
	p.work.Wait()
}

// Prepare implements plan.Preparer. Stored values are uploaded if they leave half of the free memory; a later call reports
// the errors of the work.
func (s *Store) Prepare(groups bool) {
	var ctx context.Context
	ctx, s.preparing.cancel = context.WithCancel(context.Background())
	s.preparing.work.Go(func() {
		if len(s.t.Columns) == 0 || 4*uint64(len(s.t.Slices)) > s.rt.Memory.Left()/2 {
			return
		}
		v, err := s.allValues(ctx)
		if err != nil {
			return
		}
		if s.build(ctx, s.programs(v)) && selfTestTop(ctx, s.rt) == nil && groups && selfTestMeasures(ctx, s.rt) == nil && selfTestFacets(ctx, s.rt) == nil {
			s.build(ctx, s.groupPrograms(v))
		}
	})
}

// variants are the features of kernels that select rows by slices.
func (s *Store) variants(v *values) []device.Features {
	if s.lean() {
		return []device.Features{v.features(), v.features() | useCodes}
	}
	return []device.Features{v.features() | useCodes}
}

// programs are the programs of selections and of their first rows.
func (s *Store) programs(v *values) []device.KernelID {
	all := []device.KernelID{s.program(useChecks).KernelID}
	for _, with := range s.variants(v) {
		all = append(all, selectSlices.For(with).KernelID, bestKeys.For(with).KernelID)
	}
	return all
}

// groupPrograms are the programs of groups.
func (s *Store) groupPrograms(v *values) []device.KernelID {
	all := []device.KernelID{countCodes.For(v.features()).KernelID, measureGroups.For(v.features()).KernelID, packedGroups.KernelID}
	cells := []device.Features{0, useOne, useGlobal, useGlobal | useOne}
	if s.pairs() {
		for _, with := range cells {
			all = append(all, pairGroups.For(v.features()|with).KernelID)
		}
	}
	for _, with := range s.variants(v) {
		all = append(all, measureRows.For(with).KernelID)
		for _, cell := range cells {
			all = append(all, codeGroups.For(with|cell).KernelID)
		}
	}
	return all
}

// build builds programs until ctx ends. It returns false after an error.
func (s *Store) build(ctx context.Context, all []device.KernelID) bool {
	for _, id := range all {
		if _, err := s.rt.ProgramOf(id); err != nil || ctx.Err() != nil {
			return false
		}
	}
	return true
}

var _ plan.Preparer = (*Store)(nil)
