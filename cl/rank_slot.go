package cl

import (
	"heddle/engine/plan"
)

// rankSlot holds the buffers of one batch of ranked queries under way. They grow with the
// work, up to the shape of its cut, which is smaller than its own while memory is short. It
// belongs to the goroutine that took it.
type rankSlot struct {
	flight
	ranker *ranker
	shape  rankShape
	scratchMemory
	selector *selector

	batch      scratch // the upload
	docs       scratch // docIDs of the lists of a round
	components scratch // term-frequency components of their postings
	starts     scratch // of ranges of documents in the lists
	runs       scratch
	keys       scratch // candidates, query after query
	state      scratch // of the queries, four words each
	best       scratch // documents, query after query
	scores     scratch // of all documents, for plan.GlobalAccumulators
	maxima     scratch // of scores, and of maxima

	cut   rankCut
	found best
}

// newSlot makes a slot. If less than twice its memory is left and another slot exists, the
// caller waits for that one.
func (r *ranker) newSlot() (*rankSlot, error) {
	rt, memory := r.set.rt, r.set.memory
	most, left := min(rt.info.Memory, memory.size()), memory.left()
	if r.set.cache == nil { // the device's budget has more users
		most = min(most, 2*left)
	}
	x := &rankSlot{ranker: r, shape: rankShapeFor(rt.tuning, most, rt.info.MaxAlloc), flight: newFlight(rt, memory),
		scratchMemory: newScratchMemory(rt, memory, &r.bytes, "ranking")}
	if need := 4*rankUpload + selectorBytes(rt.tuning, x.shape.keys); r.set.cache == nil && r.bytes.Load() > 0 && 2*need > left {
		return nil, plan.ErrOutOfMemory
	}
	x.cut = rankCut{set: r.set, shape: x.shape, known: map[plan.Handle]int{}}
	err := func() (err error) {
		if err = x.room(&x.batch, rankUpload, 0, "an upload of ranked queries"); err != nil {
			return err
		}
		if err = x.open(rankUpload, 1<<16); err != nil {
			return err
		}
		if err = x.create(kernelID{name: "accumulate"}, "prepare", "copy_raw", "starts", "tf_components", "accumulate", "rank_and"); err != nil {
			return err
		}
		x.selector, err = newSelector(&x.flight, x.scratchMemory, x.shape.keys)
		return err
	}()
	if err != nil {
		x.release()
		return nil, err
	}
	return x, nil
}

// halve makes the slot use less memory, with shorter rounds, until it is given back. It
// reports false if it cannot. No command may be under way.
func (x *rankSlot) halve() bool {
	now, least := &x.cut.shape, rankShapeFor(x.rt.tuning, 0, 0)
	if *now == least {
		return false
	}
	*now = rankShape{
		postings: max(now.postings/2, least.postings),
		starts:   max(now.starts/2, least.starts),
		keys:     max(now.keys/2, least.keys),
	}
	x.dropAll()
	return true
}

// dropAll frees the buffers that grow.
func (x *rankSlot) dropAll() {
	for _, m := range []*scratch{&x.docs, &x.components, &x.starts, &x.runs, &x.keys, &x.state, &x.best, &x.scores, &x.maxima} {
		x.drop(m)
	}
}

// giveBack waits until no command is under way and returns the slot to the pool.
func (x *rankSlot) giveBack() {
	x.land()
	x.cut.shape = x.shape
	x.ranker.free.give(x)
}

func (x *rankSlot) release() {
	x.flight.release()
	if x.selector != nil {
		x.selector.release()
	}
	x.dropAll()
	x.drop(&x.batch)
}
