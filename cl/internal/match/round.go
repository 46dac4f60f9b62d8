package match

import (
	"heddle/cl/internal/device"
	"heddle/cl/internal/filter"
	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/plan"
)

const (
	maxQueries = 16384 // queries of a round
	maxTerms   = 65536 // terms of a round, and so of a query
	tileWords  = 4     // words of a tile record
)

// position is the place in a batch where the next round begins.
type position struct {
	query int
	doc   uint32 // elements of the query's shortest list in earlier rounds
}

// round is the work of one sequence of launches: a range of the batch's candidates, so that
// one query may continue in the next round. Its upload holds term records, tile records,
// runs to decode, and zeros for sums over blocks.
type round struct {
	firstQuery int
	queries    int
	whole      bool // it answers all queries of the batch
	tiles      int
	with       device.Features // features of a program that searches in the lists
	merge      bool            // by the kernels of merge.cl
	filtered   bool            // kernels read the buffer of filters
	unpacked   bool            // lists that need features are decoded before they are searched
	joined     bool            // words of bitsets are joined
	tile       uint32          // elements of a tile
	parts      int             // queries with a work-group of their own, in a round of PART
	// The runs to decode, by decoder. Runs of one decoder lie together.
	runs        [len(lists.Decoders)]int
	runsAt      [len(lists.Decoders)]int // in uint4
	candidates  uint64                   // elements
	decodeBytes uint64                   // bytes that decoding reads and writes
	segments    uint64                   // segments of gap codecs that decoding decodes
	tilesAt     int                      // in uint4
	sumsAt      int                      // in words
	words       int                      // words of the upload
}

// uploadWords limits the upload of a round of maxTiles tiles.
func uploadWords(maxTiles int) int {
	return maxTerms*lists.RecordWords + maxTiles*(tileWords+lists.RunWords) + max(maxTiles/lists.BlockTiles+1, 4*min(maxQueries, maxTiles))
}

// nothing is a list without documents.
var nothing lists.Record

// drivingList returns the driving list of conjunction i, whose elements are looked up in the rest of
// the lists and in f, nil for no filter. It is the shortest list, or the documents of the filter if
// these are fewer.
func drivingList(b *plan.MatchBatch, records []lists.Record, i int) (elements *lists.Record, rest []plan.Handle, f *filter.Set) {
	q := b.Query(i)
	if len(q) == 0 {
		return &nothing, nil, nil
	}
	elements, f = &records[q[0]], filter.Of(b.Filter(i))
	if f != nil && f.Docs() != nil && f.Count() < elements.Length() {
		return f.Docs(), q, nil
	}
	return elements, q[1:], f
}

// cut writes the round of b from p on to up, the words of the upload, and returns the start
// of the round after it. firstTile, of maxQueries+1 words, gets the first tile of every
// query of the round, and at its end the number of tiles.
func (m *Matcher) cut(b *plan.MatchBatch, records []lists.Record, p position, up, firstTile []uint32) (round, position) {
	r := round{firstQuery: p.query, tile: m.tile}
	maxTiles := m.maxTiles
	// The shape first: the numbers of queries, terms, tiles and runs that fit.
	end, terms, bitRuns, searched := p, 0, 0, unpacking{room: uint64(maxTiles) * uint64(m.tile)}
	for queries := b.Queries(); end.query < queries && r.queries < maxQueries; {
		firstTile[r.queries] = uint32(r.tiles)
		elements, rest, f := drivingList(b, records, end.query)
		if elements.Length() == 0 {
			r.queries++
			end = position{query: end.query + 1}
			continue
		}
		merge := b.Algorithm == plan.MergePath && m.merges(plan.MergePath, records, elements, rest)
		if r.tiles == 0 && merge {
			r.merge, r.tile, maxTiles = true, m.mergeTile, m.mergeTiles()
		}
		n, bits := len(rest), bitsOnly(records, elements, rest)
		if f != nil {
			n++
		}
		if bits {
			n++
		}
		if terms+n > maxTerms || r.tiles == maxTiles || merge != r.merge {
			break
		}
		terms += n
		left := elements.Length() - end.doc
		fits := min(uint64(left), uint64(maxTiles-r.tiles)*uint64(r.tile))
		if d := lists.DecoderOf(elements.Codec()); bits {
			bitRuns += int((fits + lists.RunLen - 1) / lists.RunLen)
		} else if d != lists.NoDecoder {
			r.runs[d] += int((fits + lists.RunLen - 1) / lists.RunLen)
		}
		if b.Algorithm == plan.Auto {
			searched.add(records, rest)
		}
		r.filtered = r.filtered || b.Filter(end.query) != nil
		r.queries++
		r.tiles += int((fits + uint64(r.tile) - 1) / uint64(r.tile))
		if fits < uint64(left) {
			end.doc += uint32(fits)
			break
		}
		end = position{query: end.query + 1}
	}
	firstTile[r.queries] = uint32(r.tiles)
	r.whole = p == position{} && end.query == b.Queries()

	if r.unpacked = !r.filtered && searched.pays(uint64(r.tiles)*uint64(r.tile)); r.unpacked {
		for d, n := range searched.runs {
			r.runs[d] += n
		}
	}
	if r.joined = b.Algorithm == plan.Auto && (r.unpacked || searched.words == 0); !r.joined {
		r.runs[lists.DecoderOf(codec.Bitset)] += bitRuns
	}
	r.tilesAt = 2 * terms
	at := r.tilesAt + r.tiles
	for d, n := range r.runs {
		r.runsAt[d] = at
		at += n * lists.RunWords / 4
	}
	next := r.runsAt // the place of the next run, by decoder
	words, tiles := up, up[4*r.tilesAt:]
	r.sumsAt = 4 * at
	r.words = r.sumsAt + (r.tiles+lists.BlockTiles-1)/lists.BlockTiles
	clear(up[r.sumsAt:r.words])
	decode := func(list *lists.Record, first, count, to uint32) { // to: in units of four words
		d := lists.DecoderOf(list.Codec())
		for done := uint32(0); done < count; done += lists.RunLen {
			*(*[lists.RunWords]uint32)(up[4*next[d]:]) = [lists.RunWords]uint32{list[0], list[1], list[2], list[3],
				first + done, min(count-done, lists.RunLen), to + done/4, 0}
			next[d] += lists.RunWords / 4
		}
		if lists.Lookup(list.Codec())&lists.UseGaps != 0 {
			r.segments += uint64(count+codec.SegmentLen-1) / codec.SegmentLen
		}
		r.decodeBytes += 4 * (uint64(count) + uint64(count)*uint64(list[2])/uint64(list[1]))
	}
	term, behind := 0, uint32(r.tiles)*r.tile/4 // behind: the place of the next decoded list
	for i := range r.queries {
		tile, endTile := firstTile[i], firstTile[i+1]
		if tile == endTile {
			continue
		}
		list, rest, f := drivingList(b, records, p.query+i)
		first, before := uint32(0), term
		if i == 0 {
			first = p.doc
		}
		put := func(list *lists.Record) {
			to := (*lists.Record)(words)
			*to = *list
			if r.unpacked && list.With() != 0 {
				decode(list, 0, list.Length(), behind)
				*to = list.Unpacked(behind)
				behind += uint32(room(list.Length()) / 4)
			}
			words = words[lists.RecordWords:]
			r.with |= to.With()
			term++
		}
		join := r.joined && bitsOnly(records, list, rest)
		if join {
			put(list)
		}
		for j, h := range rest { // ascending; a round of merges merges the first list
			if f != nil && f.Count() < records[h].Length() && (j > 0 || !r.merge) {
				put(f.Bits())
				f = nil
			}
			put(&records[h])
		}
		if f != nil {
			put(f.Bits())
		}
		left := uint32(min(uint64(list.Length()-first), uint64(endTile-tile)*uint64(r.tile)))
		r.candidates += uint64(left)
		off, buffer := list[0]+first/4, list.Buffer()
		step := r.tile / 4
		if join {
			off, buffer, step = first, lists.BitsTag, r.tile
		} else if lists.DecoderOf(list.Codec()) != lists.NoDecoder {
			off, buffer = tile*r.tile/4, lists.DecodedTag
			decode(list, first, left, off)
		}
		to := tiles[:tileWords*(endTile-tile)]
		tiles = tiles[len(to):]
		for ; len(to) >= tileWords; to = to[tileWords:] {
			to[0], to[1], to[2], to[3] = uint32(before), uint32(term-before), off, min(left, r.tile)|buffer<<16
			off += step
			left -= r.tile // wraps around after the last tile
		}
	}
	return r, end
}
