package rank

import (
	"context"

	"heddle/cl/internal/device"
	"heddle/engine/plan"
)

// slot holds the buffers of one batch of ranked queries under way. They grow with the
// work, up to the shape of its cut, which is smaller than its own while memory is short. It
// belongs to the goroutine that took it.
type slot struct {
	device.Flight
	ranker *Ranker
	shape  shape
	device.ScratchMemory
	selector *selector

	batch      device.Scratch // the upload
	docs       device.Scratch // docIDs of the lists of a round
	components device.Scratch // term-frequency components of their postings
	starts     device.Scratch // where ranges of documents begin in the lists
	runs       device.Scratch
	keys       device.Scratch // candidates, query after query
	state      device.Scratch // states of the queries, four words each, then the best documents, query after query
	scores     device.Scratch // scores of all documents, for plan.GlobalAccumulators
	maxima     device.Scratch // the greatest of each group of scores, and of each group of maxima
	cells      device.Scratch // sums of samples; places while packets are made
	counts     device.Scratch // packets of ranges while packets are made

	cut    cut
	coarse coarse
	found  best
	later  []func() // of settle
}

// newSlot makes a slot. If less than twice its memory is left and another slot exists, the
// caller waits for that one.
func (r *Ranker) newSlot() (*slot, error) {
	rt, memory := r.set.Device, r.set.Memory
	most, left := min(rt.Info.Memory, memory.Size()), memory.Left()
	if r.set.Cache == nil { // the device's budget has more users
		most = min(most, 2*left)
	}
	x := &slot{ranker: r, shape: shapeFor(rt.Tuning, most, rt.Info.MaxAlloc), Flight: device.NewFlight(rt, memory),
		ScratchMemory: device.NewScratchMemory(rt, memory, &r.used, "ranking")}
	if need := 4*uploadWords + selectorBytes(rt.Tuning, x.shape.keys); r.set.Cache == nil && r.used.Load() > 0 && 2*need > left {
		return nil, plan.ErrOutOfMemory
	}
	x.cut = cut{set: r.set, shape: x.shape, known: map[plan.Handle]int{}}
	x.coarse.places = map[plan.Handle]coarseList{}
	err := func() (err error) {
		if err = x.Room(&x.batch, uploadWords, 0, "an upload of ranked queries"); err != nil {
			return err
		}
		if err = x.Open(uploadWords, 1<<16); err != nil {
			return err
		}
		if err = x.Prepare(accumulate.KernelID); err != nil {
			return err
		}
		x.selector, err = newSelector(&x.Flight, x.ScratchMemory, x.shape.keys)
		return err
	}()
	if err != nil {
		x.release()
		return nil, err
	}
	return x, nil
}

// need is the room for a buffer, as for device.ScratchMemory.Room.
type need struct {
	buffer      *device.Scratch
	words, most int
	what        string
}

// rooms gives buffers room, each for at least four words.
func (x *slot) rooms(needs []need) error {
	for _, n := range needs {
		if err := x.Room(n.buffer, max(n.words, 4), n.most, n.what); err != nil {
			return err
		}
	}
	return nil
}

// halve makes the slot use less memory, with shorter rounds, until it is given back. It
// reports false if it cannot. No command may be under way.
func (x *slot) halve() bool {
	now, least := &x.cut.shape, shapeFor(x.Device.Tuning, 0, 0)
	if *now == least {
		return false
	}
	*now = shape{
		postings: max(now.postings/2, least.postings),
		starts:   max(now.starts/2, least.starts),
		keys:     max(now.keys/2, least.keys),
	}
	x.dropAll()
	return true
}

// dropAll frees the buffers that grow.
func (x *slot) dropAll() {
	for _, m := range []*device.Scratch{&x.docs, &x.components, &x.starts, &x.runs, &x.keys, &x.state, &x.scores, &x.maxima, &x.cells, &x.counts} {
		x.Drop(m)
	}
}

// settle calls f once no command of a batch that failed is under way: in giveBack, if its caller has given up.
func (x *slot) settle(ctx context.Context, f func()) {
	if ctx.Err() != nil {
		x.later = append(x.later, f)
		return
	}
	x.Land()
	f()
}

// giveBack waits until no command is under way and returns the slot to the pool.
func (x *slot) giveBack() {
	x.Land()
	for _, f := range x.later {
		f()
	}
	x.later = nil
	x.cut.shape = x.shape
	x.ranker.free.Give(x)
}

func (x *slot) release() {
	x.Flight.Release()
	if x.selector != nil {
		x.selector.release()
	}
	x.dropAll()
	x.Drop(&x.batch)
}
