package bitmap

import (
	"fmt"
	"heddle/codec/bitslice"

	"heddle/codec/wah"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/bitmap/codeset"
)

// worker is the scratch memory of one goroutine: the stack of a selection in one tile.
type worker struct {
	sets [plan.MaxSets]*set    // the stack
	has  [plan.MaxSets]content // by set: its content
	top  int                   // index of the top of the stack, -1 for an empty one

	rows    [][]uint64 // plain rows that the current step ORs
	walks   []walk     // compressed vectors that the current step ORs
	cursors []cursor   // by operand of the batch
	codes   codes

	narrow [tileGroups32]uint32 // a tile of a vector with words of 32 bits: one group in each word
	wide   [tileGroups64]uint64 // a tile of a vector with words of 64 bits: one group in each word
}

// walk is a compressed vector to be ORed.
type walk struct {
	operand uint32
	at      start
	dense   bool
}

// cursor is the start of a tile in a vector that has fewer starts than tiles.
type cursor struct {
	at   start
	tile uint32 // 1 + the number of the tile, 0 for no cursor
}

func newWorker() *worker {
	w, sets := new(worker), new([plan.MaxSets]set)
	for i := range sets {
		w.sets[i] = &sets[i]
	}
	return w
}

// run evaluates selection i in a tile and leaves the result on top of the stack.
func (w *worker) run(b *batch, i, tile int) error {
	t, sel := b.table, b.sel
	first, steps := int(sel.Offsets[i]), sel.Selection(i)
	words := t.tile.words(tile)
	w.top = -1
	for k := 0; k < len(steps); k++ {
		if e := int(b.joins[first+k]); e > 0 { // the steps up to e compute an operand that e may not need
			if code := steps[e].Code; code == plan.StepOr && w.has[w.top] == all || code != plan.StepOr && w.has[w.top] == none {
				k = e
				continue
			}
		}
		switch x := &steps[k]; x.Code {
		case plan.StepAny:
			w.top++
			top := w.sets[w.top]
			switch wide := t.data.Word() == 64; {
			case b.united && wide:
				w.has[w.top] = b.wide.put(k, top, &t.tile, tile)
			case b.united:
				w.has[w.top] = b.narrow.put(k, top, &t.tile, tile)
			case wide:
				w.has[w.top] = anyOf(w, b, top, w.wide[:], t.data.Words64, x, tile)
			default:
				w.has[w.top] = anyOf(w, b, top, w.narrow[:], t.data.Words32, x, tile)
			}
		case plan.StepAll:
			w.top++
			w.has[w.top] = all
		case plan.StepNot:
			switch w.has[w.top] {
			case none:
				w.has[w.top] = all
			case all:
				w.has[w.top] = none
			default:
				invertSet(w.sets[w.top][:words])
			}
		case plan.StepCheck:
			ranges, set := sel.Ranges[x.From:x.To], (*codeset.Set)(nil)
			if len(ranges) > bitslice.FewRanges {
				set = &b.sets[b.setOf[first+k]]
			}
			if err := w.check(t, x.Column, ranges, set, tile); err != nil {
				return fmt.Errorf("values of column %d: %w", x.Column, err)
			}
		case plan.StepCompare:
			if err := w.compare(t, &sel.Comparisons[x.From], tile); err != nil {
				return fmt.Errorf("comparing columns %d: %w", sel.Comparisons[x.From].Columns, err)
			}
		default:
			w.join(x.Code, words)
		}
	}
	if w.top < 0 {
		w.top, w.has[0] = 0, none
	}
	return nil
}

// join replaces the two top sets of the stack by their combination.
func (w *worker) join(code plan.StepCode, words int) {
	y := w.top
	x := y - 1
	w.top = x
	if code != plan.StepOr && w.has[x] == none || code == plan.StepOr && w.has[x] == all {
		return
	}
	switch {
	case code == plan.StepAnd && w.has[x] == all, code == plan.StepOr && w.has[x] == none: // y
		w.sets[x], w.sets[y] = w.sets[y], w.sets[x]
		w.has[x] = w.has[y]
	case code == plan.StepAnd && w.has[y] == all, code != plan.StepAnd && w.has[y] == none: // x
	case code == plan.StepOr && w.has[y] == all:
		w.has[x] = all
	case code == plan.StepAnd && w.has[y] == none, code == plan.StepAndNot && w.has[y] == all:
		w.has[x] = none
	case w.has[x] == all: // AND NOT
		w.sets[x], w.sets[y] = w.sets[y], w.sets[x]
		w.has[x] = some
		invertSet(w.sets[x][:words])
	case code == plan.StepOr:
		orSet(w.sets[x][:words], w.sets[y][:words])
	case code == plan.StepAnd && !andSet(w.sets[x][:words], w.sets[y][:words]),
		code == plan.StepAndNot && !andNotSet(w.sets[x][:words], w.sets[y][:words]):
		w.has[x] = none
	}
}

// anyOf sets to to the OR of the vectors of step in a tile. Vectors with many words in the
// tile are joined in acc, one group in each word.
func anyOf[W wah.Word](w *worker, b *batch, to *set, acc, words []W, step *plan.Step, tile int) content {
	x, t := &b.table.tile, b.table.data
	groups, size, dense := x.groupsOf(tile), x.words(tile), false
	w.rows, w.walks = w.rows[:0], w.walks[:0]
	for i := step.From; i < step.To; i++ {
		v := b.sel.Operands[i]
		p, d := b.table.vectors[v].Load(), &t.Vectors[v]
		if p.slotOf != nil {
			if slot := int(p.slotOf[tile]); slot > 0 {
				n := int(x.tileRows / 64)
				w.rows = append(w.rows, p.rows[(slot-1)*n:][:n])
				continue
			}
		}
		of := words[d.Off:][:d.Words]
		var at start
		c := &w.cursors[i]
		switch {
		case p.startShift == 0:
			at = p.starts[tile]
		case int(c.tile) == tile+1:
			at = c.at
		default:
			at = find(p, of, tile, x)
		}
		has := among(of, at, groups)
		if has == some {
			many := p.words(tile, len(of)) >= int(x.tileGroups/plainShare)
			dense = dense || many
			w.walks = append(w.walks, walk{i, at, many})
			continue
		}
		*c = cursor{start{at.word, at.used + uint32(groups)}, uint32(tile + 2)}
		if has == all {
			return all
		}
	}
	switch {
	case len(w.rows)+len(w.walks) == 0:
		return none
	case dense:
		clear(acc[:groups])
		for _, a := range w.walks {
			if d := &t.Vectors[b.sel.Operands[a.operand]]; a.dense {
				wah.OrInto(acc[:groups], words[d.Off:][:d.Words], a.at.position())
			}
		}
		wah.PutGroups(to[:size], acc[:groups])
	default:
		clear(to[:size])
	}
	if orRows(to[:size], w.rows) {
		return all
	}
	for _, a := range w.walks {
		if d := &t.Vectors[b.sel.Operands[a.operand]]; !a.dense {
			w.cursors[a.operand] = cursor{orWords(to, words[d.Off:][:d.Words], a.at, groups), uint32(tile + 2)}
		}
	}
	return some
}
