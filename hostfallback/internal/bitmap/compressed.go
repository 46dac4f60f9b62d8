package bitmap

import (
	"context"

	"heddle/codec/wah"
	"heddle/engine/plan"
	"heddle/hostfallback/work"
)

// unions holds the ORs of the steps of a selection under the CPU strategies of Nelson et
// al. 2020, which join compressed vectors. Each OR is a compressed vector again; its tiles
// are evaluated like the tiles of a loaded one.
type unions[W wah.Word] struct {
	steps []stepUnion[W]
	level [][]W    // the vectors left to join
	rooms [2][][]W // memory of the results, by parity of the level
}

// stepUnion is the OR of one step.
type stepUnion[W wah.Word] struct {
	words []W
	at    vector
}

// unite computes the ORs of selection i.
func (b *batch) unite(ctx context.Context, i int, strategy plan.Strategy) error {
	b.united = true
	if b.table.data.Word() == 64 {
		return b.wide.unite(ctx, b, i, strategy, b.table.data.Vector64)
	}
	return b.narrow.unite(ctx, b, i, strategy, b.table.data.Vector32)
}

// unite computes the ORs of selection i. of returns the words of a vector.
func (u *unions[W]) unite(ctx context.Context, b *batch, i int, strategy plan.Strategy, of func(v uint32) []W) error {
	steps, threads := b.sel.Selection(i), b.threads(i, i+1)
	for len(u.steps) < len(steps) {
		u.steps = append(u.steps, stepUnion[W]{})
	}
	for k, x := range steps {
		if x.Code != plan.StepAny {
			continue
		}
		u.level = u.level[:0]
		for _, v := range b.sel.Operands[x.From:x.To] {
			u.level = append(u.level, of(v))
		}
		var err error
		if strategy == plan.Iterative {
			err = u.iterate(ctx, threads)
		} else {
			err = u.reduce(ctx, threads, 0)
		}
		if err != nil {
			return err
		}
		r := &u.steps[k]
		if r.words = r.words[:0]; len(u.level) > 0 {
			r.words = append(r.words, u.level[0]...)
		}
		findStarts(&r.at, r.words, &b.table.tile)
	}
	return nil
}

// room returns memory for at least n results of a level.
func (u *unions[W]) room(level, n int) [][]W {
	rooms := &u.rooms[level%2]
	for len(*rooms) < n {
		*rooms = append(*rooms, nil)
	}
	return *rooms
}

// iterate joins one vector after another to a result. Each thread joins a part of the
// vectors to its own result; the results are joined as a tree.
func (u *unions[W]) iterate(ctx context.Context, threads int) error {
	parts := max(min(threads, len(u.level)/2), 1)
	from, to := u.room(0, parts), u.room(1, parts)
	err := work.Parallel(ctx, threads, parts, func(_, p int) error {
		part := u.level[len(u.level)*p/parts : len(u.level)*(p+1)/parts]
		for k, words := range part {
			if k == 0 {
				from[p] = append(from[p][:0], words...)
				continue
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			to[p] = wah.Or(to[p][:0], from[p], words)
			from[p], to[p] = to[p], from[p]
		}
		return nil
	})
	if err != nil || len(u.level) == 0 {
		return err
	}
	u.level = append(u.level[:0], from[:parts]...)
	return u.reduce(ctx, threads, 1)
}

// reduce joins pairs of vectors, level by level, until one is left. The first level is the
// parity of its memory, which must not hold the vectors.
func (u *unions[W]) reduce(ctx context.Context, threads, level int) error {
	for ; len(u.level) > 1; level++ {
		pairs := len(u.level) / 2
		rooms := u.room(level, pairs)
		err := work.Parallel(ctx, threads, pairs, func(_, p int) error {
			rooms[p] = wah.Or(rooms[p][:0], u.level[2*p], u.level[2*p+1])
			return nil
		})
		if err != nil {
			return err
		}
		odd := u.level[2*pairs:]
		u.level = append(append(u.level[:0], rooms[:pairs]...), odd...)
	}
	return nil
}

// put sets to to the OR of step k in a tile.
func (u *unions[W]) put(k int, to *set, x *tiling, tile int) content {
	r, groups := &u.steps[k], x.groupsOf(tile)
	at := find(&r.at, r.words, tile, x)
	has := among(r.words, at, groups)
	if has == some {
		clear(to[:x.words(tile)])
		orWords(to, r.words, at, groups)
	}
	return has
}
