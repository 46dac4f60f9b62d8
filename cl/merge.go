package cl

import (
	"heddle/codec"
	"heddle/engine/plan"
)

// Rounds of merges: lists of like length, in tiles of their own size, by the
// kernels of merge.cl. A round has merges only, or none.

// mergeRatio is how many times as long as the shortest list of a query the second
// one may be under Auto, in quarters, so that its part of a tile fits the window of
// the kernel with room to spare.
const mergeRatio = 6

// mergeTables are the tables that merges look the cuts of lists up in, and probe
// further lists by.
const mergeTables = plan.HS16

// mergeTile is the number of elements that a group of merge takes, MERGE_TILE in
// kernels/merge.cl.
func (t Tuning) mergeTile() int { return t.MergeWG * t.MergeRows }

// mergeLocal is the work-group size of merge.
func (t Tuning) mergeLocal() int {
	if t.Serial {
		return 1
	}
	return t.MergeWG
}

// mergeTiles is the most tiles of a round of merges.
func (s *Store) mergeTiles() int {
	return s.maxTiles * int(s.tile) / int(s.mergeTile)
}

// merges says whether query q, whose shortest list is not empty, is one for rounds
// of merges: under MergePath each that they can run, under Auto long ones whose
// second list has bits or is of like length.
func (s *Store) merges(a plan.Algorithm, records []record, q []plan.Handle) bool {
	if a != plan.MergePath && a != plan.Auto || len(q) < 2 || s.mergeTile < s.tile || s.mergeTiles() == 0 {
		return false
	}
	for _, h := range q[1:] {
		if records[h].with() != 0 {
			return false
		}
	}
	if a == plan.MergePath {
		return true
	}
	n, second := uint64(records[q[0]].length()), &records[q[1]]
	bits := second.codec() == codec.Bitset || second.kind() == probeBits
	return s.mergeLeast > 0 && n >= s.mergeLeast && (bits || 4*uint64(second.length()) <= mergeRatio*n)
}

// enqueueMerge launches the kernel of a round of merges and says whether the
// survivors are where they belong.
func (x *slot) enqueueMerge(q *sequence) (gathered bool) {
	b, r := x.store.backend, &x.round
	if x.countOnly || x.look == nil {
		x.enqueueProbe(q, kernelID{name: "merge"}, b.tuning.mergeLocal())
		return x.countOnly
	}
	k := q.kernel(kernelID{name: "merge_ahead"})
	q.try(func() error {
		ticket, epoch, err := x.look.begin(x.queue, r.tiles)
		if err != nil {
			return err
		}
		q.arg(k, 10, int(ticket))
		q.arg(k, 11, int(epoch))
		return k.SetArgBuffer(4, x.aux())
	})
	q.arg(k, 6, r.tilesAt)
	q.arg(k, 12, x.docsAt)
	q.arg(k, 13, int(r.candidates))
	q.launch(stageProbe, k, r.tiles, b.tuning.mergeLocal())
	return true
}

// prepare builds the kernel of the round, and for merges the state of kernels that
// look back where they may and there is memory for it. It does not run in
// Backend.do, which others wait for.
func (x *slot) prepare() error {
	s := x.store
	id := kernelID{"intersect", x.round.with}
	if x.round.merge {
		id = kernelID{name: "merge"}
		if !x.countOnly && s.backend.looksBack() {
			id.name = "merge_ahead"
			if x.look == nil {
				x.look, _ = s.backend.newLookBack(s.memory, s.mergeTiles()) // without it in the plain form
			}
		}
	}
	_, err := s.backend.programOf(id)
	return err
}
