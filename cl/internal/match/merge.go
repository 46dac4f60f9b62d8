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
func mergeLocal(t device.Tuning) int { return t.Local(t.MergeWG) }

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
		if elements, rest, _ := drivingList(b, records, i); elements.Length() > 0 {
			if !m.merges(plan.Auto, records, elements, rest) {
				return false
			}
			some = true
		}
	}
	return some
}

// launchMergeAhead enqueues the kernel of a round of merges that looks back.
func (x *slot) launchMergeAhead() error {
	r := &x.round
	ticket, epoch, err := x.look.Begin(&x.Flight, r.tiles)
	if err != nil {
		return err
	}
	return mergeAhead.Launch(&x.Flight, mergeAheadArguments{a: x.arena(), aux: x.aux(), batch: x.batch, tilesAt: r.tilesAt, decoded: x.decoded, out: x.out,
		state: x.look.State, ticket: int(ticket), epoch: int(epoch), docsAt: x.docsAt, room: int(r.candidates), loadsTotal: x.loads},
		r.tiles, mergeLocal(x.Device.Tuning), device.ProbeTime)
}

// prepare builds the program of the round. For merges it also makes the state of look-back,
// if the device may look back and there is memory for it. It does not run in Runtime.Do,
// where other callers would wait.
func (x *slot) prepare() error {
	if !x.round.merge {
		return x.Prepare(intersect.For(x.round.with).KernelID)
	}
	if !x.countOnly && x.look == nil && primitive.LooksBack(x.Device) {
		x.look, _ = primitive.NewLookBack(x.Device, x.Memory, x.matcher.mergeTiles()) // without it, the plain form runs
	}
	return x.Prepare(merge.KernelID)
}
