package hostfallback

import (
	"context"

	"heddle/codec/wah"
	"heddle/engine/plan"
)

// unions are the ORs of the steps of a selection under the strategies for CPUs of
// Nelson et al. 2020, which join compressed vectors. They are vectors themselves, which
// the tiles walk like any other.
type unions[W wah.Word] struct {
	steps []stepUnion[W]
	level [][]W    // vectors to be joined
	rooms [2][][]W // for what comes of them, in turns
}

// stepUnion is the OR of a step.
type stepUnion[W wah.Word] struct {
	words []W
	at    vector
}

// unite computes the ORs of selection i.
func (j *tableJob) unite(ctx context.Context, i int, strategy plan.Strategy) error {
	j.united = true
	if j.table.t.Word() == 64 {
		return j.wide.unite(ctx, j, i, strategy, j.table.t.Vector64)
	}
	return j.narrow.unite(ctx, j, i, strategy, j.table.t.Vector32)
}

func (u *unions[W]) unite(ctx context.Context, j *tableJob, i int, strategy plan.Strategy, of func(v uint32) []W) error {
	steps, threads := j.sel.Selection(i), j.threads(i, i+1)
	for len(u.steps) < len(steps) {
		u.steps = append(u.steps, stepUnion[W]{})
	}
	for k, x := range steps {
		if x.Code != plan.StepAny {
			continue
		}
		u.level = u.level[:0]
		for _, v := range j.sel.Operands[x.From:x.To] {
			u.level = append(u.level, of(v))
		}
		var err error
		if strategy == plan.Iterative {
			err = u.iterate(ctx, threads)
		} else {
			err = u.reduce(ctx, threads)
		}
		if err != nil {
			return err
		}
		r := &u.steps[k]
		if r.words = r.words[:0]; len(u.level) > 0 {
			r.words = append(r.words, u.level[0]...)
		}
		findStarts(&r.at, r.words, &j.table.tile)
	}
	return nil
}

// room gives room i of a level, and makes more.
func (u *unions[W]) room(level, n int) [][]W {
	rooms := &u.rooms[level%2]
	for len(*rooms) < n {
		*rooms = append(*rooms, nil)
	}
	return *rooms
}

// iterate joins one vector after the other to a result, as many at a time as there are
// threads, each to a result of its own; these are joined likewise at the end.
func (u *unions[W]) iterate(ctx context.Context, threads int) error {
	parts := max(min(threads, len(u.level)/2), 1)
	from, to := u.room(0, parts), u.room(1, parts)
	err := parallel(ctx, threads, parts, func(p int) error {
		share := u.level[len(u.level)*p/parts : len(u.level)*(p+1)/parts]
		for k, words := range share {
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
	for p := 1; p < parts; p++ {
		to[0] = wah.Or(to[0][:0], from[0], from[p])
		from[0], to[0] = to[0], from[0]
	}
	u.level = append(u.level[:0], from[0])
	return nil
}

// reduce joins pairs of vectors until one is left.
func (u *unions[W]) reduce(ctx context.Context, threads int) error {
	for level := 0; len(u.level) > 1; level++ {
		pairs := len(u.level) / 2
		rooms := u.room(level, pairs)
		err := parallel(ctx, threads, pairs, func(p int) error {
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

// put makes set the OR of step k in a tile.
func (u *unions[W]) put(k int, set *tileSet, x *tiling, tile int) content {
	r, groups := &u.steps[k], x.groupsOf(tile)
	at := find(&r.at, r.words, tile, x)
	has := among(r.words, at, groups)
	if has == some {
		clear(set[:x.words(tile)])
		orWords(set, r.words, at, groups)
	}
	return has
}
