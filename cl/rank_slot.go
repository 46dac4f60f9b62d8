package cl

import (
	"cmp"

	ocl "github.com/jgillich/go-opencl/cl"
	"heddle/engine/plan"
)

// What a round of ranked queries takes at most.
const (
	rankTerms   = 1 << 16
	rankQueries = 1 << 13
	rankBest    = 1 << 23 // documents that come back
	rankGroups  = 1 << 30 // of a launch
	rankUpload  = 4 * (1 + 5*rankTerms + rankQueries)
	rankLists4  = 3 // uint4 a list, of the upload
	rankTerms4  = 2 // a term
)

// rankSlots is how many batches of ranked queries are in flight.
func (t Tuning) rankSlots() int { return min(t.Slots, 2) }

// rankRange is the number of documents of a range, RANK_RANGE of the kernels.
func (t Tuning) rankRange() int { return cmp.Or(t.RankRange, 4096) }

// andRange is the number of documents of a range of conjoin: few of them are in the
// shortest list of a query.
func (t Tuning) andRange() int { return 4 * t.rankRange() }

// rankLocal is the size of a work-group of accumulate and conjoin.
func (t Tuning) rankLocal() int {
	if t.Serial {
		return 1
	}
	return cmp.Or(t.RankWG, 128)
}

// rankSpan is the number of ranges that a group of accumulate takes at most, RANK_SPAN
// of the kernels.
const rankSpan = 8

// rankMemory is the local memory of a work-group of ranking at most, in bytes.
func (t Tuning) rankMemory() int {
	return max(4*(t.rankRange()+64*(3+rankSpan)+128+1), 4*runLen)
}

// rankShape is how much a slot for ranked queries may have at a time.
type rankShape struct {
	postings int // of the lists of a round
	starts   int // words
	keys     int // candidates
}

// rankShapeFor takes an eighth of so much memory for each slot, in buffers of at most
// `largest` bytes: of that 7/8 for postings, the rest for starts and candidates. The more lists a
// round has, the more queries share them.
func rankShapeFor(t Tuning, memory, largest uint64) rankShape {
	part := min(memory/8/16, largest/7)
	return rankShape{
		postings: max(int(min(14*part/8, 1<<31)), 2*runLen),
		starts:   max(int(min(part/4, 1<<30)), 1024),
		keys:     max(int(min(part/8, 1<<27)), 2*(plan.MaxK+t.andRange())),
	}
}

// rankSlot is what one batch of ranked queries in flight needs, as slot is for
// conjunctions. Its buffers grow with what is asked, up to the shape of its cut, which is
// less than its own while memory is short. It belongs to the goroutine that took it from
// Store.freeRanks.
type rankSlot struct {
	store *Store
	shape rankShape
	flight
	selector *selector

	batch  *ocl.MemObject // what was uploaded
	docs   scratch        // of the lists of a round
	shares scratch        // of their postings
	starts scratch        // of ranges of documents in the lists
	runs   scratch
	keys   scratch // candidates, query after query
	state  scratch // of the queries, four words each
	best   scratch // documents, query after query
	scores scratch // of all documents, for plan.GlobalAccumulators
	maxima scratch // of scores, and of maxima

	bytes uint64 // of all of them

	cut   rankCut
	found rankFound
}

// scratch is a buffer that grows.
type scratch struct {
	buffer *ocl.MemObject
	words  int
}

// rankProgram holds the kernels of share.cl, rank.cl and conjoin.cl.
var rankProgram = kernelID{name: "rank"}

func (s *Store) newRankSlot() (*rankSlot, error) {
	b := s.backend
	memory, left := min(b.dev.info.Memory, s.memory.limit), s.memory.left()
	if s.cache == nil { // others come out of what is left, too
		memory = min(memory, 2*left)
	}
	x := &rankSlot{store: s, shape: rankShapeFor(b.tuning, memory, b.dev.info.MaxAlloc), flight: newFlight(b, s.memory)}
	if need := 4*rankUpload + selectorBytes(b.tuning, x.shape.keys); s.cache == nil && s.rankBytes.Load() > 0 && 2*need > left {
		return nil, plan.ErrOutOfMemory // whoever asks waits for the first
	}
	x.cut = rankCut{store: s, shape: x.shape, known: map[plan.Handle]int{}}
	err := func() (err error) {
		if err = x.reserve(4*rankUpload, "an upload of ranked queries"); err != nil {
			return err
		}
		if x.batch, err = b.buffer(ocl.MemReadWrite, 4*rankUpload, "ranked queries"); err != nil {
			return err
		}
		if err = x.open(rankUpload, 1<<16, rankProgram, "prepare", "copy_raw", "starts", "share", "accumulate", "conjoin"); err != nil {
			return err
		}
		if x.selector, err = newSelector(&x.flight, x.shape.keys); err == nil {
			x.store.rankBytes.Add(x.selector.bytes)
		}
		return err
	}()
	if err != nil {
		x.release()
		return nil, err
	}
	return x, nil
}

func (x *rankSlot) reserve(bytes uint64, what string) error {
	if err := x.memory.reserve(bytes, what); err != nil {
		return err
	}
	x.bytes += bytes
	x.store.rankBytes.Add(bytes)
	return nil
}

func (x *rankSlot) unreserve(bytes uint64) {
	x.memory.unreserve(bytes)
	x.bytes -= bytes
	x.store.rankBytes.Add(-bytes)
}

// room makes room for so many words in m: twice as many as before, if `most` is not
// below that and there is memory. What was there is lost. Nothing may be under way.
func (x *rankSlot) room(m *scratch, words, most int, what string) error {
	if words <= m.words {
		return nil
	}
	b := x.backend
	if err := b.fits(4*uint64(words), what, "ranking"); err != nil {
		return err
	}
	more := max(words, min(2*m.words, most), 1<<10)
	x.drop(m) // it goes first: both may be large
	if b.fits(4*uint64(more), what, "ranking") != nil || x.reserve(4*uint64(more), what) != nil {
		more = words
		if err := x.reserve(4*uint64(more), what); err != nil {
			return err
		}
	}
	var err error
	if m.buffer, err = b.buffer(ocl.MemReadWrite, 4*uint64(more), what); err != nil {
		x.unreserve(4 * uint64(more))
		return err
	}
	m.words = more
	return nil
}

// drop frees the buffer of m.
func (x *rankSlot) drop(m *scratch) {
	if m.buffer != nil {
		m.buffer.Release()
		x.unreserve(4 * uint64(m.words))
		*m = scratch{}
	}
}

// halve makes the slot, of which nothing may be under way, do with less memory until it
// is given back: with shorter rounds. It is false if it cannot.
func (x *rankSlot) halve() bool {
	shape, least := &x.cut.shape, rankShapeFor(x.backend.tuning, 0, 0)
	if *shape == least {
		return false
	}
	*shape = rankShape{
		postings: max(shape.postings/2, least.postings),
		starts:   max(shape.starts/2, least.starts),
		keys:     max(shape.keys/2, least.keys),
	}
	x.dropAll()
	return true
}

func (x *rankSlot) dropAll() {
	for _, m := range x.buffers() {
		x.drop(m)
	}
}

// buffers are those that grow.
func (x *rankSlot) buffers() []*scratch {
	return []*scratch{&x.docs, &x.shares, &x.starts, &x.runs, &x.keys, &x.state, &x.best, &x.scores, &x.maxima}
}

// growDown makes room for so many words of results.
func (x *rankSlot) growDown(words int) error {
	if words <= len(x.down.words) {
		return nil
	}
	grown, err := x.backend.newPinned(4 * (words + words/4))
	if err != nil {
		return err
	}
	x.down.release(x.backend)
	x.down = grown
	return nil
}

// giveBack waits until nothing is under way and lets others have the slot.
func (x *rankSlot) giveBack() {
	x.land()
	x.cut.shape = x.shape
	x.store.freeRanks.give(x)
}

func (x *rankSlot) release() {
	x.flight.release()
	if x.selector != nil {
		x.store.rankBytes.Add(-x.selector.bytes)
		x.selector.release()
	}
	x.dropAll()
	if x.batch != nil {
		x.batch.Release()
	}
	x.unreserve(x.bytes)
}
