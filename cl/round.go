package cl

import (
	"heddle/codec"
	"heddle/engine/plan"
)

// A batch runs in rounds: what one sequence of launches takes. A round covers a
// run of the batch's candidates, so one query may go on in the next round.

const (
	maxQueries  = 16384 // of one round
	maxTerms    = 65536 // of one round, and so of one query
	recordWords = 8     // of a term record
	tileWords   = 4     // of a tile record
	runWords    = 8     // of a run record
	blockTiles  = 64    // tiles of a sum, BLOCK in kernels/common.cl
	decodedTag  = 4     // ELEMENTS_DECODED in kernels/common.cl
	runLen      = 2048  // most elements of a run, RUN in kernels/decode.cl
)

// position is how far a batch has been cut into rounds.
type position struct {
	query int
	doc   uint32 // elements of the query's shortest list that are done
}

// round is what one sequence of launches is told, in the words of one upload:
// term records, tile records, runs to decode, and zeros for sums over blocks.
type round struct {
	firstQuery int
	queries    int
	tiles      int
	decode     int    // runs of tiles to decode
	candidates uint64 // elements
	// decodeBytes is what decoding reads and writes.
	decodeBytes uint64
	tilesAt     int // in uint4
	runsAt      int // in uint4
	sumsAt      int // in words
	words       int // of the upload
}

// uploadWords bounds the upload of a round of maxTiles tiles.
func uploadWords(maxTiles int) int {
	return maxTerms*recordWords + maxTiles*(tileWords+runWords) + maxTiles/blockTiles + 1
}

// cut describes the next round of b from p on in up, the words of the upload,
// and returns where the round after it begins. firstTile, of maxQueries+1, gets
// the first tile of every query of the round, and at its end the number of tiles.
func (s *Store) cut(b *plan.Batch, refs []tableRef, p position, up, firstTile []uint32) (round, position) {
	r := round{firstQuery: p.query}
	// First the shape: how many queries, terms and tiles fit.
	end, terms := p, 0
	for end.query < b.Queries() && r.queries < maxQueries {
		firstTile[r.queries] = uint32(r.tiles)
		q := b.Query(end.query)
		left := 0
		if n := s.shortest(q); n > 0 {
			left = int((uint64(n-end.doc) + uint64(s.tile) - 1) / uint64(s.tile))
			if terms+len(q)-1 > maxTerms || r.tiles == s.maxTiles {
				break
			}
			terms += len(q) - 1
		}
		r.queries++
		if take := s.maxTiles - r.tiles; left > take {
			r.tiles = s.maxTiles
			end.doc += uint32(take) * s.tile
			break
		}
		r.tiles += left
		end = position{query: end.query + 1}
	}
	firstTile[r.queries] = uint32(r.tiles)

	r.tilesAt = 2 * terms
	r.runsAt = r.tilesAt + r.tiles
	records, tiles, runs := up, up[4*r.tilesAt:], up[4*r.runsAt:]
	term, tile := 0, 0
	for i := range r.queries {
		q := b.Query(p.query + i)
		n, first := s.shortest(q), uint32(0)
		if n == 0 {
			continue
		}
		if i == 0 {
			first = p.doc
		}
		for j, h := range q[1:] {
			s.record(h, refs, (*[recordWords]uint32)(records[(term+j)*recordWords:]))
		}
		l, at := &s.src.Lists[q[0]], s.places[q[0]]
		encoded := l.Codec != codec.Raw
		if encoded {
			to, left := uint32(tile)*s.tile, uint32(min(uint64(n-first), uint64(int(firstTile[i+1])-tile)*uint64(s.tile)))
			for done := uint32(0); done < left; done += runLen {
				count := min(left-done, runLen)
				run := (*[runWords]uint32)(runs[r.decode*runWords:])
				s.record(q[0], nil, run)
				run[4], run[5], run[6], run[7] = first+done, count, (to+done)/4, 0
				r.decode++
			}
			r.decodeBytes += 4 * (uint64(left) + uint64(left)*uint64(l.Words)/uint64(l.Len))
		}
		for ; tile < int(firstTile[i+1]); tile++ {
			count := min(n-first, s.tile)
			off, buffer := at.off+first/4, at.buffer
			if encoded {
				off, buffer = uint32(tile)*s.tile/4, decodedTag
			}
			*(*[tileWords]uint32)(tiles[tile*tileWords:]) = [tileWords]uint32{uint32(term), uint32(len(q) - 1), off, count | buffer<<16}
			first += count
			r.candidates += uint64(count)
		}
		term += len(q) - 1
	}
	r.sumsAt = 4*r.runsAt + r.decode*runWords
	r.words = r.sumsAt + (r.tiles+blockTiles-1)/blockTiles
	clear(up[r.sumsAt:r.words])
	return r, end
}

// shortest is the number of candidates of a query.
func (s *Store) shortest(q []plan.Handle) uint32 {
	if len(q) == 0 {
		return 0
	}
	return s.src.Lists[q[0]].Len
}

// record writes what the kernels need to know of list h.
func (s *Store) record(h plan.Handle, refs []tableRef, to *[recordWords]uint32) {
	l, at := &s.src.Lists[h], s.places[h]
	tag := uint32(l.Codec) | at.buffer<<8
	*to = [recordWords]uint32{at.off, l.Len, l.Words, tag}
	if refs != nil {
		t := refs[h]
		to[3] |= uint32(t.kind)<<16 | uint32(t.shift)<<24
		to[4], to[5] = t.off, t.entries
	}
}
