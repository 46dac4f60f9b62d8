package hostfallback

import (
	"fmt"

	"heddle/codec/wah"
	"heddle/engine/plan"
)

// tileWorker is the scratch of one goroutine: the stack of a selection in one tile.
type tileWorker struct {
	sets [plan.MaxSets]*tileSet
	has  [plan.MaxSets]content
	top  int // of the stack, -1 when it is empty

	rows    [][]uint64 // plain rows that a step ORs
	walks   []walk     // words that it ORs
	cursors []cursor   // by operand of the batch
	codes   codes

	narrow [tileGroups32]uint32 // a group a word
	wide   [tileGroups64]uint64
}

// walk is a vector with words to be walked.
type walk struct {
	operand uint32
	at      start
	dense   bool
}

// cursor is the start of a tile of a vector that has fewer starts than tiles.
type cursor struct {
	at   start
	tile uint32 // 1 + its number, 0 where there is none
}

func newTileWorker() *tileWorker {
	w := new(tileWorker)
	sets := new([plan.MaxSets]tileSet)
	for i := range sets {
		w.sets[i] = &sets[i]
	}
	return w
}

// run evaluates selection i in a tile. What it selects is on top of the stack.
func (w *tileWorker) run(j *tableJob, i, tile int) error {
	s, sel := j.table, j.sel
	first, steps := int(sel.Offsets[i]), sel.Selection(i)
	words := s.tile.words(tile)
	w.top = -1
	for k := 0; k < len(steps); k++ {
		if e := int(j.joins[first+k]); e > 0 { // what follows is for step e, which may not need it
			if code := steps[e].Code; code == plan.StepOr && w.has[w.top] == all || code != plan.StepOr && w.has[w.top] == none {
				k = e
				continue
			}
		}
		switch x := &steps[k]; x.Code {
		case plan.StepAny:
			w.top++
			set := w.sets[w.top]
			switch wide := s.t.Word() == 64; {
			case j.united && wide:
				w.has[w.top] = j.wide.put(k, set, &s.tile, tile)
			case j.united:
				w.has[w.top] = j.narrow.put(k, set, &s.tile, tile)
			case wide:
				w.has[w.top] = anyOf(w, j, set, w.wide[:], s.t.Words64, x, tile)
			default:
				w.has[w.top] = anyOf(w, j, set, w.narrow[:], s.t.Words32, x, tile)
			}
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
			if err := w.check(s, x.Column, sel.Ranges[x.From:x.To], tile); err != nil {
				return fmt.Errorf("values of column %d: %w", x.Column, err)
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

// join takes two sets from the stack and puts one there.
func (w *tileWorker) join(code plan.StepCode, words int) {
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

// anyOf makes set the OR of vectors in a tile, by way of acc where many words are to be
// walked.
func anyOf[W wah.Word](w *tileWorker, j *tableJob, set *tileSet, acc, words []W, step *plan.Step, tile int) content {
	x, t := &j.table.tile, j.table.t
	groups, size, dense := x.groupsOf(tile), x.words(tile), false
	w.rows, w.walks = w.rows[:0], w.walks[:0]
	for i := step.From; i < step.To; i++ {
		v := j.sel.Operands[i]
		p, d := j.table.vectors[v].Load(), &t.Vectors[v]
		if p.slots != nil {
			if slot := int(p.slots[tile]); slot > 0 {
				n := int(x.size / 64)
				w.rows = append(w.rows, p.rows[(slot-1)*n:][:n])
				continue
			}
		}
		of := words[d.Off:][:d.Words]
		var at start
		c := &w.cursors[i]
		switch {
		case p.shift == 0:
			at = p.starts[tile]
		case int(c.tile) == tile+1:
			at = c.at
		default:
			at = find(p, of, tile, x)
		}
		has := among(of, at, groups)
		if has == some {
			many := p.words(tile, len(of)) >= int(x.groups/plainShare)
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
			if d := &t.Vectors[j.sel.Operands[a.operand]]; a.dense {
				wah.OrInto(acc[:groups], words[d.Off:][:d.Words], a.at.position())
			}
		}
		wah.PutGroups(set[:size], acc[:groups])
	default:
		clear(set[:size])
	}
	if orRows(set[:size], w.rows) {
		return all
	}
	for _, a := range w.walks {
		if d := &t.Vectors[j.sel.Operands[a.operand]]; !a.dense {
			w.cursors[a.operand] = cursor{orWords(set, words[d.Off:][:d.Words], a.at, groups), uint32(tile + 2)}
		}
	}
	return some
}
