package match

import (
	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/cl/internal/primitive"
	"heddle/codec"
	"heddle/engine/plan"
)

// mergeRatio limits the length of the second list of a query that plan.Auto merges, in
// quarters of the length of the shortest one. Its part of a tile then fits the window of
// the kernel with room to spare.
const mergeRatio = 6

// mergeTables is the algorithm whose tables merges use: to cut lists, and to search in the
// third and later lists.
const mergeTables = plan.HS16

// mergeTile is the number of elements of a group of merge, MERGE_TILE in kernels/merge.cl.
func mergeTile(t device.Tuning) int { return t.MergeWG * t.MergeRows }

// mergeLocal is the work-group size of merge.
func mergeLocal(t device.Tuning) int {
	if t.Serial {
		return 1
	}
	return t.MergeWG
}

// mergeTiles is the number of tiles of a round of merges at most.
func (m *Matcher) mergeTiles() int {
	return m.maxTiles * int(m.tile) / int(m.mergeTile)
}

// merges tells whether a query belongs into a round of merges: its elements, which are not none,
// and the lists that they are looked up in, the shortest one first. Under plan.MergePath it is every query that the kernel can run. Under plan.Auto
// it is a query over long lists whose second list has bits or a similar length. A round
// has only merges or none.
func (m *Matcher) merges(a plan.Algorithm, records []lists.Record, elements *lists.Record, rest []plan.Handle) bool {
	if a != plan.MergePath && a != plan.Auto || len(rest) == 0 || m.mergeTile < m.tile || m.mergeTiles() == 0 {
		return false
	}
	for _, h := range rest {
		if records[h].With() != 0 {
			return false
		}
	}
	if a == plan.MergePath {
		return true
	}
	n, second := uint64(elements.Length()), &records[rest[0]]
	bits := second.Codec() == codec.Bitset || second.Probe() == lists.ProbeBits
	return m.mergeLeast > 0 && n >= m.mergeLeast && (bits || 4*uint64(second.Length()) <= mergeRatio*n)
}

// mergesAll tells whether plan.Auto merges b from a query on: all queries with candidates.
// A batch is merged as a whole or not at all, because short rounds cost more than merging
// gains.
func (m *Matcher) mergesAll(b *plan.MatchBatch, first int, records []lists.Record) bool {
	some := false
	for i := first; i < b.Queries(); i++ {
		if elements, rest, _ := lead(b, records, i); elements.Length() > 0 {
			if !m.merges(plan.Auto, records, elements, rest) {
				return false
			}
			some = true
		}
	}
	return some
}

// enqueueMerge launches the kernel of a round of merges. It reports whether the kernel
// writes the matches to their final places.
func (x *slot) enqueueMerge(q *sequence) (gathered bool) {
	rt, r := x.Device, &x.round
	if x.countOnly || x.look == nil {
		x.enqueueProbe(q, device.KernelID{Name: "merge"}, mergeLocal(rt.Tuning))
		return x.countOnly
	}
	k := q.kernel(device.KernelID{Name: "merge_ahead"})
	var ticket, epoch uint32
	q.try(func() (err error) {
		ticket, epoch, err = x.look.Begin(x.Queue, r.tiles)
		return err
	})
	q.set(k, 10, int(ticket))
	q.set(k, 11, int(epoch))
	q.buffers(k)
	q.set(k, 6, r.tilesAt)
	q.set(k, 12, x.docsAt)
	q.set(k, 13, int(r.candidates))
	q.launch(k, r.tiles, mergeLocal(rt.Tuning), device.ProbeTime)
	return true
}

// prepare builds the program of the round. For merges it also makes the state of look-back,
// if the device may look back and there is memory for it. It does not run in Runtime.Do,
// where other callers would wait.
func (x *slot) prepare() error {
	id := device.KernelID{Name: "intersect", With: x.round.with}
	if x.round.merge {
		id = device.KernelID{Name: "merge"}
		if !x.countOnly && primitive.LooksBack(x.Device) {
			id.Name = "merge_ahead"
			if x.look == nil {
				x.look, _ = primitive.NewLookBack(x.Device, x.Memory, x.matcher.mergeTiles()) // without it, the plain form runs
			}
		}
	}
	_, err := x.Device.ProgramOf(id)
	return err
}
