package cl

import (
	"unsafe"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/engine/plan"
)

// Rounds of PART (Wu et al. 2010, section IV), for comparison with PARA: a query
// is one work-group's, and its results take as much room as its shortest list, all
// of which comes back.

// cutParts makes a round of PART of one that cut has made: in place of zeros for
// sums the upload gets {first tile, tiles, 0, 0} of each query that has tiles.
func (r *round) cutParts(up, firstTile []uint32) {
	at := r.sumsAt
	for i := range r.queries {
		if tiles := firstTile[i+1] - firstTile[i]; tiles > 0 {
			*(*[4]uint32)(up[at:]) = [4]uint32{firstTile[i], tiles}
			at += 4
			r.parts++
		}
	}
	r.words = at
}

// enqueueParts enqueues the download of a round of PART: the counts, and for docIDs
// the room of all survivors, which down must have.
func (x *slot) enqueueParts(q *sequence) {
	q.try(func() (err error) {
		x.events[stageDownload], err = x.queue.EnqueueReadBuffer(x.out, false, 0, 4*x.round.parts, unsafe.Pointer(&x.down.words[0]), nil)
		return err
	})
	if !x.countOnly {
		q.try(func() (err error) {
			x.events[stageRest], err = x.queue.EnqueueReadBuffer(x.found, false, 0, 4*(x.read-x.docsAt), unsafe.Pointer(&x.down.words[x.docsAt]), nil)
			return err
		})
	}
}

// waitParts waits for what enqueueParts has enqueued.
func (x *slot) waitParts() error {
	for _, stage := range []int{stageDownload, stageRest} {
		if e := x.events[stage : stage+1]; e[0] != nil {
			if err := ocl.WaitForEvents(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// collectParts appends the results of a round of PART to out, behind `end`
// matches.
func (x *slot) collectParts(out *plan.Results, end uint64) {
	r, part := &x.round, 0
	for i := range r.queries {
		if x.firstTile[i+1] > x.firstTile[i] {
			n := x.down.words[part]
			part++
			end += uint64(n)
			if !x.countOnly {
				at := x.docsAt + int(x.firstTile[i]*r.tile)
				out.Docs = append(out.Docs, x.down.words[at:at+int(n)]...)
			}
		}
		out.Offsets[r.firstQuery+i+1] = end
	}
	out.Stats.Matches = end
}
