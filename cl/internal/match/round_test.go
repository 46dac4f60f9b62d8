package match

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/cl/internal/device/devicetest"
	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// cutter is a store as far as cut needs one: no device, any tile.
func cutter(t *testing.T, src *plan.Source, tile, maxTiles int) *Matcher {
	t.Helper()
	_, places, err := lists.Layout(src, 1<<34, lists.MaxArenas)
	if err != nil {
		t.Fatal(err)
	}
	return &Matcher{set: &lists.Set{Src: src, Places: places}, tile: uint32(tile), maxTiles: maxTiles}
}

// shortest is the number of candidates of a query.
func shortest(src *plan.Source, q []plan.Handle) uint32 {
	if len(q) == 0 {
		return 0
	}
	return src.Lists[q[0]].Len
}

// element is one of the shortest list of a query.
type element struct {
	query int
	doc   uint32
}

// follow reads a round like the kernels: it takes its tiles one by one, checks every record
// and returns the elements of the tiles.
func follow(s *Matcher, b *plan.MatchBatch, r round, up, firstTile []uint32) (elements []element, err error) {
	recordAt := func(at int) lists.Record { return lists.Record(up[at:]) }
	records := s.set.Records(nil)
	decoded := map[uint32]element{} // by place in the buffer of decoded elements
	var runs []uint32               // of all decoders
	for d, n := range r.runs {
		runs = append(runs, up[4*r.runsAt[d]:][:n*lists.RunWords]...)
	}
	for i := range len(runs) / lists.RunWords {
		run := runs[i*lists.RunWords:][:lists.RunWords]
		h := slices.IndexFunc(s.set.Places, func(p lists.Place) bool { return p.Off == run[0] && p.Buffer == run[3]>>8&0xff })
		if h < 0 || s.set.Src.Lists[h].Len != run[1] || s.set.Src.Lists[h].Words != run[2] || uint32(s.set.Src.Lists[h].Codec) != run[3]&0xff {
			return nil, fmt.Errorf("run %d is of no list: %v", i, run)
		}
		first, count, to := run[4], run[5], 4*run[6]
		if count == 0 || count > lists.RunLen || uint64(first)+uint64(count) > uint64(run[1]) || first%codec.SegmentLen != 0 {
			return nil, fmt.Errorf("run %d decodes elements %d to %d of %d", i, first, first+count, run[1])
		}
		for k := range count {
			if _, twice := decoded[to+k]; twice || int(to+k) >= s.maxTiles*int(s.tile) {
				return nil, fmt.Errorf("run %d decodes to place %d", i, to+k)
			}
			decoded[to+k] = element{h, first + k}
		}
	}
	for i := range r.queries {
		q := b.Query(r.firstQuery + i)
		if firstTile[i] > firstTile[i+1] {
			return nil, fmt.Errorf("query %d of the round has tiles %d to %d", i, firstTile[i], firstTile[i+1])
		}
		for t := firstTile[i]; t < firstTile[i+1]; t++ {
			tile := up[4*(r.tilesAt+int(t)):][:tileWords]
			term, terms, off, count, buffer := int(tile[0]), int(tile[1]), tile[2], tile[3]&0xffff, tile[3]>>16
			others := q[1:]
			if buffer == lists.BitsTag {
				others = q
			}
			if terms != len(others) || count == 0 || count > s.tile {
				return nil, fmt.Errorf("tile %d has %d terms and %d elements, its query %d lists", t, terms, count, len(q))
			}
			for j, h := range others {
				want := records[h]
				if r.unpacked && want.With() != 0 {
					at := recordAt((term + j) * lists.RecordWords)[0]
					for k := range want.Length() {
						if decoded[4*at+k] != (element{int(h), k}) {
							return nil, fmt.Errorf("tile %d, term %d: docID %d is not decoded", t, j, k)
						}
					}
					want = want.Unpacked(at)
				}
				if got := recordAt((term + j) * lists.RecordWords); 2*(term+j) >= r.tilesAt || got != want {
					return nil, fmt.Errorf("tile %d, term %d: record %v, want %v", t, j, got, want)
				}
			}
			for k := range count {
				doc := 4*(off-s.set.Places[q[0]].Off) + k
				if buffer == lists.BitsTag {
					if doc = off + k; !r.joined || !bitsOnly(records, &records[q[0]], q[1:]) {
						return nil, fmt.Errorf("tile %d takes its elements from a bitset", t)
					}
				} else if buffer == lists.DecodedTag {
					e, ok := decoded[4*off+k]
					if !ok || e.query != int(q[0]) {
						return nil, fmt.Errorf("tile %d, element %d is not decoded", t, k)
					}
					doc = e.doc
				} else if buffer != s.set.Places[q[0]].Buffer || s.set.Src.Lists[q[0]].Codec != codec.Raw {
					return nil, fmt.Errorf("tile %d lies in buffer %d", t, buffer)
				}
				elements = append(elements, element{r.firstQuery + i, doc})
			}
		}
	}
	if n := int(firstTile[r.queries]); firstTile[0] != 0 || n != r.tiles || r.tiles > s.maxTiles || uint64(len(elements)) != r.candidates {
		return nil, fmt.Errorf("%d tiles of at most %d, the queries have %d; %d elements, the round says %d", r.tiles, s.maxTiles, n, len(elements), r.candidates)
	}
	for i, sum := range up[r.sumsAt:r.words] {
		if sum != 0 {
			return nil, fmt.Errorf("sum %d begins with %d", i, sum)
		}
	}
	if sums := r.words - r.sumsAt; sums*lists.BlockTiles < r.tiles {
		return nil, fmt.Errorf("%d sums of %d tiles for %d tiles", sums, lists.BlockTiles, r.tiles)
	}
	return elements, nil
}

// cutAll cuts b into rounds, checks each, and checks that together they have
// every element of every shortest list once and in order. It gives the rounds.
func cutAll(t *testing.T, s *Matcher, b *plan.MatchBatch) (rounds []round) {
	t.Helper()
	up := make([]uint32, uploadWords(s.maxTiles))
	firstTile := make([]uint32, maxQueries+1)
	records := s.set.Records(nil)
	for i := range up {
		up[i] = 0xdeadbeef // words of an earlier batch
	}
	var got []element
	for at := (position{}); at.query < b.Queries(); {
		r, next := s.cut(b, records, at, up, firstTile)
		if next.query < at.query || next.query == at.query && next.doc <= at.doc {
			t.Fatalf("the round from %+v ends at %+v", at, next)
		}
		if r.firstQuery != at.query || r.queries == 0 || r.queries > maxQueries || r.words > len(up) || r.tilesAt > 2*maxTerms {
			t.Fatalf("round from %+v: %+v", at, r)
		}
		if last := r.firstQuery + r.queries; last != next.query && (last != next.query+1 || next.doc == 0) {
			t.Fatalf("the round has queries %d to %d, the next one begins at %+v", r.firstQuery, last, next)
		}
		elements, err := follow(s, b, r, up, firstTile)
		if err != nil {
			t.Fatalf("round from %+v: %v", at, err)
		}
		got, rounds, at = append(got, elements...), append(rounds, r), next
	}
	i := 0
	for q := range b.Queries() {
		for doc := range shortest(s.set.Src, b.Query(q)) {
			if i >= len(got) || got[i] != (element{q, doc}) {
				t.Fatalf("element %d of query %d is not the %d-th of the rounds", doc, q, i)
			}
			i++
		}
	}
	if i != len(got) {
		t.Fatalf("the rounds have %d elements, the batch %d", len(got), i)
	}
	return rounds
}

// TestCut cuts random batches into rounds of few tiles.
func TestCut(t *testing.T) {
	testneeds.OneCaller(t)
	r := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		src := &plan.Source{}
		postings := 1 + r.IntN(12)
		words := make([]uint32, postings)
		for i := range words {
			words[i] = 1 + r.Uint32N(1<<r.IntN(14))
		}
		*src = *devicetest.ListsOf(words...)
		for h := range src.Lists {
			src.Lists[h].Codec = codec.IDs()[r.IntN(len(codec.IDs()))]
			if r.IntN(6) == 0 {
				src.Lists[h].Len = 0
			}
		}
		var b plan.MatchBatch
		b.Reset()
		for range r.IntN(60) {
			q := make([]plan.Handle, r.IntN(6))
			for i := range q {
				q[i] = r.Uint32N(uint32(postings))
			}
			b.Add(src, q...)
		}
		tile := []int{128, 512, lists.RunLen}[r.IntN(3)]
		cutAll(t, cutter(t, src, tile, 1+r.IntN(1<<r.IntN(7))), &b)
	}
}

// TestCutSpans has one query that takes many rounds, before, behind and between
// others.
func TestCutSpans(t *testing.T) {
	testneeds.OneCaller(t)
	for _, id := range codec.IDs() {
		src := devicetest.ListsOf(10_000, 10_001, 3)
		src.Lists[0].Codec = id
		var b plan.MatchBatch
		b.Reset()
		b.Add(src, 2)
		b.Add(src)
		b.Add(src, 0, 1)
		b.Add(src, 2, 0)
		b.Add(src)
		if n := len(cutAll(t, cutter(t, src, 512, 3), &b)); n != 8 { // 1 + 20 + 1 tiles
			t.Errorf("%v: %d rounds", id, n)
		}
		b.Reset()
		b.Add(src, 0)
		if n := len(cutAll(t, cutter(t, src, 512, 20), &b)); n != 1 {
			t.Errorf("%v: 20 tiles in a round of 20 took %d", id, n)
		}
		if n := len(cutAll(t, cutter(t, src, 512, 19), &b)); n != 2 {
			t.Errorf("%v: 20 tiles in rounds of 19 took %d", id, n)
		}
	}
}

// TestCutLimits keeps to the queries and the terms of a round.
func TestCutLimits(t *testing.T) {
	testneeds.OneCaller(t)
	src := devicetest.ListsOf(slices.Repeat([]uint32{1}, 3000)...)
	s := cutter(t, src, 512, 1<<16)
	var b plan.MatchBatch
	b.Reset()
	for range 2*maxQueries + 5 {
		b.Add(src)
	}
	if rounds := cutAll(t, s, &b); len(rounds) != 3 || rounds[2].queries != 5 {
		t.Errorf("%d empty queries took %d rounds", b.Queries(), len(rounds))
	}
	b.Reset()
	for i := range maxQueries + 1 {
		b.Add(src, uint32(i%3000))
	}
	if rounds := cutAll(t, s, &b); len(rounds) != 2 || rounds[1].tiles != 1 {
		t.Errorf("%d queries of one term took %d rounds", b.Queries(), len(rounds))
	}
	all := make([]plan.Handle, 3000)
	for i := range all {
		all[i] = uint32(i)
	}
	b.Reset()
	for range 22 {
		b.Add(src, all...)
	}
	rounds := cutAll(t, s, &b)
	if want := (22*2999 + maxTerms - 1) / maxTerms; len(rounds) < want || rounds[0].queries != maxTerms/2999 {
		t.Errorf("22 queries of 3000 terms took %d rounds, the first has %d queries", len(rounds), rounds[0].queries)
	}
	if rounds := cutAll(t, s, &plan.MatchBatch{}); len(rounds) != 0 {
		t.Errorf("no queries took %d rounds", len(rounds))
	}
}

// TestCutUpload fills a round to its limits in all that an upload holds: it is
// as long as it may be, and no longer.
func TestCutUpload(t *testing.T) {
	testneeds.OneCaller(t)
	const maxTiles = 1000
	src := devicetest.ListsOf(slices.Repeat([]uint32{1}, maxTerms/maxTiles+2)...)
	for h := range src.Lists {
		src.Lists[h].Codec = codec.ParaPFor
	}
	all := make([]plan.Handle, len(src.Lists))
	for i := range all {
		all[i] = uint32(i)
	}
	var b plan.MatchBatch
	b.Reset()
	for range 2 * maxTiles {
		b.Add(src, all[:maxTerms/maxTiles+1]...)
	}
	for _, r := range cutAll(t, cutter(t, src, 128, maxTiles), &b) {
		if r.tiles != maxTiles || r.runs[0] != maxTiles || r.words < uploadWords(maxTiles)*9/10 {
			t.Errorf("the round takes %d of %d words: %+v", r.words, uploadWords(maxTiles), r)
		}
	}
}
