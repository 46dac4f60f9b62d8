package bitmap

import (
	"context"
	"slices"

	"heddle/codec/wah"
	"heddle/hostfallback/work"
)

// vector is the data kept beside the words of one vector: the directory of tile starts,
// and the plain rows of dense tiles, whose words take longer to walk than their rows to
// read. A published vector is immutable.
type vector struct {
	starts     []start // where tile i<<startShift starts, for each i; fewer in a vector of few words
	startShift uint8
	ready      bool     // plain rows are built, as far as memory allows
	slotOf     []uint32 // by tile: 1 + the slot of its rows, 0 without rows; nil if no tile has rows
	rows       []uint64 // slots: the plain rows of one dense tile after another
}

// start is a position between two groups of a vector: a word, and the number of groups of the word before
// the position.
type start struct{ word, used uint32 }

func (at start) position() wah.Position {
	return wah.Position{Word: int(at.word), Used: uint64(at.used)}
}

const (
	// A tile is dense if it has at most plainShare groups for each of its words: walking the words then
	// takes longer than reading plain rows.
	plainShare = 6
	// startWords is the least number of words for each start of a vector.
	startWords = 8
)

// prepare builds the missing data of the vectors in operands: the starts at the first
// use, the plain rows at the second.
func (t *Table) prepare(ctx context.Context, operands []uint32) error {
	var missing []uint32
	for _, v := range operands {
		if p := t.vectors[v].Load(); p == nil || !p.ready {
			missing = append(missing, v)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	return work.Parallel(ctx, t.work.Threads, len(missing), func(_, i int) error {
		at := &t.vectors[missing[i]]
		old := at.Load()
		p := new(vector)
		if t.data.Word() == 64 {
			prepareVector(t, p, old, t.data.Vector64(missing[i]))
		} else {
			prepareVector(t, p, old, t.data.Vector32(missing[i]))
		}
		if !at.CompareAndSwap(old, p) { // another batch was faster
			t.work.Memory.Return(p.plainBytes())
		} else if old == nil {
			t.startBytes.Add(8 * int64(len(p.starts)))
		}
		return nil
	})
}

// plainBytes returns the size of the plain rows and their slots.
func (p *vector) plainBytes() int64 { return 8*int64(len(p.rows)) + 4*int64(len(p.slotOf)) }

// prepareVector fills p with the starts of words, or with the starts of old and plain
// rows.
func prepareVector[W wah.Word](t *Table, p, old *vector, words []W) {
	x := &t.tile
	if old == nil {
		findStarts(p, words, x)
		return
	}
	p.starts, p.startShift, p.ready = old.starts, old.startShift, true
	dense := 0
	for tile := range p.starts {
		if p.words(tile, len(words)) >= t.plainWords {
			dense++
		}
	}
	slot := int(x.tileRows / 64)
	size := 8*int64(dense*slot) + 4*int64(x.tiles)
	if dense == 0 {
		return
	}
	if !t.work.Memory.Take(size) {
		return
	}
	p.slotOf, p.rows = make([]uint32, x.tiles), make([]uint64, dense*slot)
	groups := make([]W, x.tileGroups)
	for tile, at := range p.starts {
		if p.words(tile, len(words)) >= t.plainWords {
			dense--
			clear(groups)
			wah.OrInto(groups, words, at.position())
			wah.PutGroups(p.rows[dense*slot:][:slot], groups)
			p.slotOf[tile] = uint32(dense + 1)
		}
	}
}

// words returns the number of words in a tile of a vector of the given number of words,
// or 0 if not every tile has a start.
func (p *vector) words(tile, words int) int {
	if p.startShift > 0 {
		return 0
	}
	if tile+1 < len(p.starts) {
		words = int(p.starts[tile+1].word)
	}
	return words - int(p.starts[tile].word)
}

// findStarts fills p with the starts of a vector: one for each tile, or fewer if the
// vector has few words.
func findStarts[W wah.Word](p *vector, words []W, x *tiling) {
	for p.startShift = 0; (x.tiles>>p.startShift)*startWords > len(words) && x.tiles>>p.startShift > 0; {
		p.startShift++
	}
	n := (x.tiles + 1<<p.startShift - 1) >> p.startShift
	p.starts = slices.Grow(p.starts[:0], n)
	step, next, at := uint64(x.tileGroups)<<p.startShift, uint64(0), uint64(0)
	top := wah.GroupBits[W]()
	count := ^W(0) >> 2
	more := func(w W) uint64 { return uint64(-(w >> top) & (w&count - 1)) } // number of groups in a word, less one
	for k := 0; k < len(words) && len(p.starts) < n; {
		if rest := words[k:]; len(rest) >= 8 { // eight words at once if no tile starts in them
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
	for len(p.starts) < n { // invalid words
		p.starts = append(p.starts, start{word: uint32(len(words))})
	}
}

// find returns the start of a tile.
func find[W wah.Word](p *vector, words []W, tile int, x *tiling) start {
	at := p.starts[tile>>p.startShift]
	for skip := uint64(tile&(1<<p.startShift-1)) * uint64(x.tileGroups); skip > 0 && uint(at.word) < uint(len(words)); {
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
