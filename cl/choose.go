package cl

import (
	"context"
	"fmt"

	"heddle/codec"
	"heddle/engine/plan"
)

// What Auto is. A store decides when it is loaded, by what fits the device:
//
//	bits   a bitset beside every list of more than one document in DenseRatio, and
//	       buckets of 16 docIDs beside the others: one load a probe, or three
//	hs16   buckets for all, where there is no room for bitsets
//	bs     neither fits
//
// Lists that bring what a probe needs (bitsets, and hslrc, which has buckets) get
// no table but a bitset under bits. A batch is merged where each query in it has
// lists of like length, as long as the tuning row asks for (merge_least), so that
// it is worth to read them from end to end. It is merged as a whole or not at all: a
// round is of one kind, and short rounds cost more than merging wins.

// chooseAuto takes the fastest algorithm whose tables fit: Bits, else HS16, else
// BS.
func (s *Store) chooseAuto(ctx context.Context) error {
	some := []plan.Algorithm{plan.Bits, plan.HS16}
	if s.cache != nil {
		some = []plan.Algorithm{plan.BS}
	}
	for _, a := range some {
		_, err := s.tablesOf(ctx, a)
		if err == nil {
			s.auto = a
			return nil
		}
		if failed, ok := err.(*plan.DeviceError); !ok || failed.Kind != plan.ErrOutOfMemory {
			return err
		}
	}
	s.auto = plan.BS
	return nil
}

func (s *Store) resolve(a plan.Algorithm) plan.Algorithm {
	switch a {
	case plan.Auto:
		a = s.auto
	case plan.MergePath:
		a = mergeTables
	}
	if s.cache != nil && takesTables(a) {
		return plan.BS
	}
	return a
}

// takesTables says whether there are tables beside the lists under a.
func takesTables(a plan.Algorithm) bool {
	return a == plan.LR || a == plan.LRSeg || a.Bucket() > 0
}

// tablesNow returns the tables that a asks for, to explain them. It builds them if
// need be, as a batch would.
func (s *Store) tablesNow(a plan.Algorithm) (*tables, error) {
	if err := s.backend.Info().Runs(a); err != nil {
		return nil, err
	}
	if s.closed.Load() {
		return nil, plan.ErrClosed
	}
	return s.tablesOf(context.Background(), s.resolve(a))
}

// Explain names the method for list h.
func (s *Store) Explain(a plan.Algorithm, h plan.Handle) string {
	t, err := s.tablesNow(a)
	if err != nil {
		return err.Error()
	}
	l, r := s.src.Lists[h], &t.records[h]
	how := "binary search"
	switch r.kind() {
	case probeBits:
		return "auxiliary bitset, one load a probe"
	case probeOwn:
		return fmt.Sprintf("hash value to one of %d buckets, then the range that its line leaves", r.entries())
	case probeIS:
		how = "interpolation search"
	case probePMF:
		how = fmt.Sprintf("parallel merge find with %d levels of splitters", r[6])
	case probeSeg:
		how = "binary search in a local safe range of a line"
	case probeLR:
		how = "binary search in the safe range of a line"
	case probeHS:
		how = fmt.Sprintf("binary search in buckets of about %d", l.Len/(r.entries()-1))
	}
	if l.Codec == codec.Bitset {
		return "bitset, one load a probe"
	}
	switch f := lookup(l.Codec); {
	case f&useGaps != 0:
		how += ", over skip entries; a segment that may be hit is decoded once for a tile"
	case f == useLines:
		how += ", over key docIDs, then the range that the line of one segment leaves"
	}
	return how
}

// mergesAll says whether Auto merges b: all queries of it from the first one on that have
// candidates.
func (s *Store) mergesAll(b *plan.MatchBatch, first int, records []record) bool {
	some := false
	for i := first; i < b.Queries(); i++ {
		if q := b.Query(i); len(q) > 0 && records[q[0]].length() > 0 {
			if !s.merges(plan.Auto, records, q) {
				return false
			}
			some = true
		}
	}
	return some
}

// ExplainBatch names the algorithm of b, and why where it is the store's choice.
func (s *Store) ExplainBatch(b *plan.MatchBatch) string {
	t, err := s.tablesNow(b.Algorithm)
	if err != nil {
		return err.Error()
	}
	if resolved := s.resolve(b.Algorithm); s.cache != nil && takesTables(b.Algorithm) {
		return fmt.Sprintf("%v in place of %v: lists that come and go have no tables", resolved, b.Algorithm)
	} else if b.Algorithm != plan.Auto {
		return b.Algorithm.String()
	}
	switch {
	case s.mergesAll(b, 0, t.records):
		return fmt.Sprintf("merge: all its lists are of like length, and of %d docIDs or more (tuning row %s)",
			s.mergeLeast, s.backend.tuning.Name)
	case s.auto == plan.Bits:
		return "bits: bitsets and buckets fit the device"
	case s.auto == plan.HS16:
		return "hs16: buckets fit the device, bitsets do not"
	}
	if s.cache != nil {
		return "bs: lists that come and go have no tables"
	}
	return "bs: no tables fit the device"
}
