package match

import "heddle/engine/plan"

// cutParts turns a round into one of PART (Wu et al. 2010, section IV), for comparison with
// PARA: each query belongs to one work-group, its results take as much room as its shortest
// list, and all of that room comes back. In place of zeros for sums the upload gets {first
// tile, tiles, 0, 0} for each query that has tiles.
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

// readParts enqueues the download of a round of PART: the counts, and for docIDs the
// whole room of all matches.
func (x *slot) readParts() error {
	err := x.ReadAt(x.out, 0, 0, x.round.parts)
	if err != nil || x.countOnly {
		return err
	}
	return x.ReadAt(x.found, 0, x.docsAt, x.fetched-x.docsAt)
}

// collectParts appends the results of a round of PART to out, after end matches.
func (x *slot) collectParts(out *plan.Results, end uint64) {
	r, part := &x.round, 0
	for i := range r.queries {
		if x.firstTile[i+1] > x.firstTile[i] {
			n := x.Down.Words[part]
			part++
			end += uint64(n)
			if !x.countOnly {
				at := x.docsAt + int(x.firstTile[i]*r.tile)
				out.Docs = append(out.Docs, x.Down.Words[at:at+int(n)]...)
			}
		}
		out.Offsets[r.firstQuery+i+1] = end
	}
	out.Stats.Matches = end
}
