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
	runLen      = 1024  // most elements of a run, RUN in kernels/common.cl
	lanes       = 32    // work-items of a segment, LANES in kernels/common.cl
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
	with       feature // of the lists that are looked up
	merge      bool    // by the kernels of merge.cl
	tile       uint32  // elements of a tile
	parts      int     // queries that are one work-group's, in a round of PART
	// runs are the runs to decode, by decoder; those of one decoder lie together.
	runs       [len(decoders)]int
	runsAt     [len(decoders)]int // in uint4
	candidates uint64             // elements
	// decodeBytes is what decoding reads and writes.
	decodeBytes uint64
	tilesAt     int // in uint4
	sumsAt      int // in words
	words       int // of the upload
}

// uploadWords bounds the upload of a round of maxTiles tiles.
func uploadWords(maxTiles int) int {
	return maxTerms*recordWords + maxTiles*(tileWords+runWords) + max(maxTiles/blockTiles+1, 4*min(maxQueries, maxTiles))
}

// cut describes the next round of b from p on in up, the words of the upload,
// and returns where the round after it begins. firstTile, of maxQueries+1, gets
// the first tile of every query of the round, and at its end the number of tiles.
func (s *Store) cut(b *plan.MatchBatch, records []record, p position, up, firstTile []uint32) (round, position) {
	r := round{firstQuery: p.query, tile: s.tile}
	maxTiles := s.maxTiles
	// First the shape: how many queries, terms, tiles and runs fit.
	end, terms := p, 0
	for queries := b.Queries(); end.query < queries && r.queries < maxQueries; {
		firstTile[r.queries] = uint32(r.tiles)
		q := b.Query(end.query)
		if len(q) == 0 || records[q[0]].length() == 0 {
			r.queries++
			end = position{query: end.query + 1}
			continue
		}
		merge := s.merges(b.Algorithm, records, q)
		if r.tiles == 0 && merge {
			r.merge, r.tile, maxTiles = true, s.mergeTile, s.mergeTiles()
		}
		if terms+len(q)-1 > maxTerms || r.tiles == maxTiles || merge != r.merge {
			break
		}
		terms += len(q) - 1
		shortest := &records[q[0]]
		left := shortest.length() - end.doc
		fits := min(uint64(left), uint64(maxTiles-r.tiles)*uint64(r.tile))
		if d := decoderOf(shortest.codec()); d != noDecoder {
			r.runs[d] += int((fits + runLen - 1) / runLen)
		}
		r.queries++
		r.tiles += int((fits + uint64(r.tile) - 1) / uint64(r.tile))
		if fits < uint64(left) {
			end.doc += uint32(fits)
			break
		}
		end = position{query: end.query + 1}
	}
	firstTile[r.queries] = uint32(r.tiles)

	r.tilesAt = 2 * terms
	at := r.tilesAt + r.tiles
	for d, n := range r.runs {
		r.runsAt[d] = at
		at += n * runWords / 4
	}
	next := r.runsAt // where the next run of each decoder goes
	words, tiles := up, up[4*r.tilesAt:]
	term := 0
	for i := range r.queries {
		tile, endTile := firstTile[i], firstTile[i+1]
		if tile == endTile {
			continue
		}
		q := b.Query(p.query + i)
		first := uint32(0)
		if i == 0 {
			first = p.doc
		}
		for _, h := range q[1:] {
			list := &records[h]
			*(*record)(words) = *list
			words = words[recordWords:]
			r.with |= list.with()
		}
		list := &records[q[0]]
		left := uint32(min(uint64(list.length()-first), uint64(endTile-tile)*uint64(r.tile)))
		r.candidates += uint64(left)
		off, buffer := list[0]+first/4, list.buffer()
		if d := decoderOf(list.codec()); d != noDecoder {
			off, buffer = tile*r.tile/4, decodedTag
			for done := uint32(0); done < left; done += runLen {
				*(*[runWords]uint32)(up[4*next[d]:]) = [runWords]uint32{list[0], list[1], list[2], list[3],
					first + done, min(left-done, runLen), off + done/4, 0}
				next[d] += runWords / 4
			}
			r.decodeBytes += 4 * (uint64(left) + uint64(left)*uint64(list[2])/uint64(list[1]))
		}
		to := tiles[:tileWords*(endTile-tile)]
		tiles = tiles[len(to):]
		for ; len(to) >= tileWords; to = to[tileWords:] {
			to[0], to[1], to[2], to[3] = uint32(term), uint32(len(q)-1), off, min(left, r.tile)|buffer<<16
			off += r.tile / 4
			left -= r.tile // wraps behind the last
		}
		term += len(q) - 1
	}
	r.sumsAt = 4 * at
	r.words = r.sumsAt + (r.tiles+blockTiles-1)/blockTiles
	clear(up[r.sumsAt:r.words])
	return r, end
}

// record is what the kernels need to know of a list: a term record of
// kernels/common.cl.
type record [recordWords]uint32

func (r *record) length() uint32  { return r[1] }
func (r *record) codec() codec.ID { return codec.ID(r[3]) }
func (r *record) buffer() uint32  { return r[3] >> 8 & 0xff }
func (r *record) kind() uint32    { return r[3] >> 16 & 0xff }
func (r *record) entries() uint32 { return r[5] }
func (r *record) with() feature   { return feature(r[7]) }

// move says where the list lies now.
func (r *record) move(to place) {
	if with := r[3]&^0xff00 | to.buffer<<8; r[0] != to.off || r[3] != with {
		r[0], r[3] = to.off, with
	}
}

// records makes the term records of all lists, with tables where there are some.
func (s *Store) records(refs []tableRef) []record {
	if s.cache != nil { // places change
		s.cache.mu.Lock()
		defer s.cache.mu.Unlock()
	}
	all := make([]record, len(s.src.Lists))
	for h := range all {
		l, at := &s.src.Lists[h], s.places[h]
		r := record{at.off, l.Len, l.Words, uint32(l.Codec) | at.buffer<<8, 7: uint32(lookup(l.Codec))}
		if refs != nil {
			t := refs[h]
			r[3] |= uint32(t.kind)<<16 | uint32(t.shift)<<24
			r[4], r[5], r[6] = t.off, t.entries, t.levels
			r[7] |= uint32(t.with())
			if t.kind == probeBits {
				r[7] = 0
			}
		}
		all[h] = r
	}
	return all
}
