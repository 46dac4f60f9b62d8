package phrase

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/cl/internal/rank"
	"heddle/cl/internal/rank/packets"
	"heddle/engine/plan"
)

// Slots is the number of words of a phrase at most, PHRASE_SLOTS of the kernels.
const Slots = 8

// Lists is the number of lists of all words of a phrase at most. It bounds the time of a launch.
const Lists = 64

// Least is plan.PhraseStore.PhraseDocuments. A CPU device has the cores of pure Go, which takes half the time there. An H200 answers a phrase in
// 0.12 ms, in which pure Go looks about a thousand documents up.
func Least(t device.Tuning) uint64 {
	if t.Serial {
		return math.MaxUint64
	}
	return 1 << 11
}

// partLen is the number of phrases of a part of a batch at most. Threads cut and collect the rounds of parts at the same time, while the device
// works for others. Shorter parts cost more launches.
const partLen = 512

// Maker makes the lists of phrases over a set of resident lists. It is safe for concurrent use: each round on the
// device has a slot of its own.
type Maker struct {
	set    *lists.Set
	ranker *rank.Ranker // has the frequencies
	slots  int          // at most
	free   device.Pool[slot]
	calls  sync.RWMutex  // read-locked by each batch
	used   atomic.Uint64 // bytes of all slots
	data   atomic.Pointer[data]
}

// New makes a maker. Its device memory comes with the first phrase.
func New(set *lists.Set, ranker *rank.Ranker) *Maker {
	slots := min(set.Device.Tuning.Slots, 4)
	m := &Maker{set: set, ranker: ranker, slots: slots, free: device.NewPool[slot](slots)}
	set.Count(func() uint64 {
		n := m.used.Load()
		if d := m.data.Load(); d != nil {
			n += d.bytes
		}
		return n
	})
	return m
}

// Release waits for all batches and frees the memory.
func (m *Maker) Release() {
	m.free.Drain((*slot).release)
	m.calls.Lock() // batches between two rounds end without a slot
	defer m.calls.Unlock()
	if d := m.data.Load(); d != nil {
		d.release(m.set.Memory)
	}
}

// Make is plan.PhraseStore.Phrases. Without memory it makes no list.
func (m *Maker) Make(ctx context.Context, phrases []*plan.Phrase, st *plan.Stats) ([]*plan.Made, error) {
	if err := m.set.Begin(ctx); err != nil {
		return nil, err
	}
	if reason := m.refuse(); reason != "" {
		st.PhraseReason = reason
		return make([]*plan.Made, len(phrases)), nil
	}
	var made []*plan.Made
	err := selfTestOnce(ctx, m.set.Device)
	if err == nil {
		made, err = m.run(ctx, phrases, st)
	}
	if errors.Is(err, plan.ErrOutOfMemory) {
		st.PhraseReason = err.Error()
		return make([]*plan.Made, len(phrases)), nil
	}
	return made, err
}

// run is Make on lists that may have positions, without a self-test, and with errors where memory is short.
func (m *Maker) run(ctx context.Context, phrases []*plan.Phrase, st *plan.Stats) ([]*plan.Made, error) {
	m.calls.RLock()
	defer m.calls.RUnlock()
	began := time.Now()
	freqs, freqPlaces, err := m.ranker.Frequencies(ctx)
	if err != nil {
		return nil, err
	}
	tables, err := m.set.TablesOf(ctx, m.set.Auto)
	if err != nil {
		return nil, err
	}
	d, err := device.Once(ctx, m.set.Building, m.set.Closing, m.data.Load, m.data.Store, func() (*data, error) { return m.load(ctx) })
	if err != nil {
		return nil, err
	}
	made := make([]*plan.Made, len(phrases))
	if d.reason != "" {
		st.PhraseReason = d.reason
		return made, nil
	}
	var parts []*cut
	for some := range slices.Chunk(phrases, partLen) {
		parts = append(parts, &cut{set: m.set, data: d, tables: tables, freqs: freqs, freqPlaces: freqPlaces, phrases: some, made: made[len(parts)*partLen:][:len(some)]})
	}
	turns, failed := make(chan struct{}, max(m.slots-1, 1)), new(atomic.Bool) // a batch leaves a slot to other callers
	err = device.InParallel(len(parts), math.MaxInt, func(i int) error {
		err := m.make(ctx, parts[i], turns, failed)
		if err != nil {
			failed.Store(true)
		}
		parts[i] = &cut{stats: parts[i].stats} // its memory may go
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, c := range parts {
		st.Add(c.stats)
	}
	st.Wall += time.Since(began)
	return made, nil
}

// make makes the lists of a part of a batch round by round, each in its turn, until a part has failed.
func (m *Maker) make(ctx context.Context, c *cut, turns chan struct{}, failed *atomic.Bool) error {
	for !failed.Load() && c.nextRound() {
		turns <- struct{}{}
		x, err := m.free.Take(ctx, m.set.Closing, m.newSlot)
		if err == nil {
			err = (*lists.Pins)(nil).Finish(x.run(ctx, c), x.giveBack)
		}
		<-turns
		if err == nil {
			err = c.collect()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// refuses tells why the kernels do not make the list of a phrase; empty: they do.
func refuses(src *plan.Source, p *plan.Phrase) string {
	n := count(p)
	switch {
	case p.Kind > plan.Ordered:
		return "a phrase of a kind without kernels"
	case len(p.Slots) > Slots:
		return fmt.Sprintf("a phrase of more than %d words", Slots)
	case n > Lists:
		return fmt.Sprintf("a phrase of words with more than %d terms", Lists)
	}
	var seen []plan.Handle // by a sloppy phrase with alternatives
	for _, s := range p.Slots {
		for _, h := range s.Lists {
			src.Describe(h)
			if l := &src.Lists[h]; l.Len > 0 && !packets.Fits(l.Codec) {
				return fmt.Sprintf("a list of %v", l.Codec)
			}
			if n == len(p.Slots) || p.Kind != plan.Sloppy {
				continue
			}
			if slices.Contains(seen, h) {
				return "a sloppy phrase of words that have a term in common"
			}
			seen = append(seen, h)
		}
	}
	return ""
}
