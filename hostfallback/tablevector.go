package hostfallback

import (
	"context"
	"slices"

	"heddle/codec/wah"
)

// vector is what a store keeps beside the words of a vector: where tiles start, and the
// plain rows of those tiles that take so many words that walking them costs more than
// reading their rows. It is never changed once it can be seen.
type vector struct {
	starts []start // of every tile whose number is a multiple of 1<<shift
	shift  uint8
	ready  bool     // plain rows have been made, where there is room for them
	slots  []uint32 // by tile: 1 + the slot of its rows, 0 where it has none; or nil
	rows   []uint64 // slots, each of the words of a whole tile
}

// start is a place between two groups: at a word, of whose groups so many are behind.
type start struct{ word, used uint32 }

func (at start) position() wah.Position {
	return wah.Position{Word: int(at.word), Used: uint64(at.used)}
}

const (
	// A tile is kept as plain rows when it has a word or more for so many groups: about
	// there walking its words takes as long as reading its rows.
	plainShare = 6
	// startWords is the least number of words of a vector for each of its starts.
	startWords = 8
)

// load makes what is kept of all vectors. Where there is not room for all plain rows,
// the tiles of most words have them.
func (s *table) load(ctx context.Context) error {
	every := make([]uint32, len(s.vectors))
	for v := range every {
		every[v] = uint32(v)
	}
	if err := s.prepare(ctx, every); err != nil {
		return err
	}
	tiles, size := make([]int64, s.tile.groups+1), int64(0) // tiles of so many words; bytes besides
	for v := range s.vectors {
		p := s.vectors[v].Load()
		size += 4 * int64(s.tile.tiles)
		for tile := range p.starts {
			tiles[min(p.words(tile, int(s.t.Vectors[v].Words)), int(s.tile.groups))]++
		}
	}
	for n, fit := int(s.tile.groups), int64(0); n >= s.least; n-- {
		if size += tiles[n] * int64(s.tile.size/8); size > s.limit {
			s.least = n
			if fit > 0 {
				s.least++
			}
		}
		fit += tiles[n]
	}
	return s.prepare(ctx, every)
}

// prepare makes what is missing of the vectors that operands name: their starts, and
// when they are used again, plain rows.
func (s *table) prepare(ctx context.Context, operands []uint32) error {
	var missing []uint32
	for _, v := range operands {
		if p := s.vectors[v].Load(); p == nil || !p.ready {
			missing = append(missing, v)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	return parallel(ctx, s.opt.Threads, len(missing), func(i int) error {
		at := &s.vectors[missing[i]]
		old := at.Load()
		p := new(vector)
		if s.t.Word() == 64 {
			prepareVector(s, p, old, s.t.Vector64(missing[i]))
		} else {
			prepareVector(s, p, old, s.t.Vector32(missing[i]))
		}
		if !at.CompareAndSwap(old, p) { // another batch was faster
			s.plain.Add(-p.plain())
		} else if old == nil {
			s.starts.Add(8 * int64(len(p.starts)))
		}
		return nil
	})
}

// plain is the size of plain rows, in bytes.
func (p *vector) plain() int64 { return 8*int64(len(p.rows)) + 4*int64(len(p.slots)) }

// prepareVector fills p: with starts, or with those of old and plain rows.
func prepareVector[W wah.Word](s *table, p, old *vector, words []W) {
	x := &s.tile
	if old == nil {
		findStarts(p, words, x)
		return
	}
	p.starts, p.shift, p.ready = old.starts, old.shift, true
	dense := 0
	for tile := range p.starts {
		if p.words(tile, len(words)) >= s.least {
			dense++
		}
	}
	slot := int(x.size / 64)
	size := 8*int64(dense*slot) + 4*int64(x.tiles)
	if dense == 0 {
		return
	}
	if s.plain.Add(size) > s.limit {
		s.plain.Add(-size)
		return
	}
	p.slots, p.rows = make([]uint32, x.tiles), make([]uint64, dense*slot)
	groups := make([]W, x.groups)
	for tile, at := range p.starts {
		if p.words(tile, len(words)) >= s.least {
			dense--
			clear(groups)
			wah.OrInto(groups, words, at.position())
			wah.PutGroups(p.rows[dense*slot:][:slot], groups)
			p.slots[tile] = uint32(dense + 1)
		}
	}
}

// words is how many words a tile has, of a vector of so many. Where not every tile has
// a start it is not known, and 0.
func (p *vector) words(tile, words int) int {
	if p.shift > 0 {
		return 0
	}
	if tile+1 < len(p.starts) {
		words = int(p.starts[tile+1].word)
	}
	return words - int(p.starts[tile].word)
}

// findStarts finds the starts of a vector: of every tile, or of fewer where there are
// few words.
func findStarts[W wah.Word](p *vector, words []W, x *tiling) {
	for p.shift = 0; (x.tiles>>p.shift)*startWords > len(words) && x.tiles>>p.shift > 0; {
		p.shift++
	}
	n := (x.tiles + 1<<p.shift - 1) >> p.shift
	p.starts = slices.Grow(p.starts[:0], n)
	step, next, at := uint64(x.groups)<<p.shift, uint64(0), uint64(0)
	top := wah.GroupBits[W]()
	count := ^W(0) >> 2
	more := func(w W) uint64 { return uint64(-(w >> top) & (w&count - 1)) } // groups of a word, less one
	for k := 0; k < len(words) && len(p.starts) < n; {
		if rest := words[k:]; len(rest) >= 8 { // eight words at once, where none of them has a start
			r := (*[8]W)(rest)
			groups := 8 + more(r[0]) + more(r[1]) + more(r[2]) + more(r[3]) + more(r[4]) + more(r[5]) + more(r[6]) + more(r[7])
			if groups <= next-at {
				at += groups
				k += 8
				continue
			}
		}
		groups := 1 + more(words[k])
		for ; next-at < groups && len(p.starts) < n; next += step {
			p.starts = append(p.starts, start{uint32(k), uint32(next - at)})
		}
		at += groups
		k++
	}
	for len(p.starts) < n { // words that are no vector
		p.starts = append(p.starts, start{word: uint32(len(words))})
	}
}

// find gives the start of a tile.
func find[W wah.Word](p *vector, words []W, tile int, x *tiling) start {
	at := p.starts[tile>>p.shift]
	for skip := uint64(tile&(1<<p.shift-1)) * uint64(x.groups); skip > 0 && uint(at.word) < uint(len(words)); {
		groups := uint64(1)
		if w := words[at.word]; wah.IsFill(w) {
			_, groups = wah.FillOf(w)
		}
		if groups -= min(groups, uint64(at.used)); skip < groups {
			return start{at.word, at.used + uint32(skip)}
		}
		skip -= groups
		at = start{word: at.word + 1}
	}
	return at
}
