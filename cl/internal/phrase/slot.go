package phrase

import (
	"cmp"
	"context"
	"slices"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/engine/plan"
)

const (
	local      = 64 // work-group size of the kernels
	stateWords = 8  // STATE_WORDS of the kernels
	foundWords = 3
	long       = 1<<32 - 1 // LONG
	early      = 1 << 12   // found documents that the first download has
)

// The words of the state.
const (
	stateAppended = iota
	stateFound
	stateWithAll
	stateRead // two words

	stateLoaded = stateRead + 2 // two words
)

// slot holds the buffers of one batch of phrases under way. It belongs to the goroutine that took it.
type slot struct {
	device.Flight
	device.ScratchMemory
	maker *Maker
	most  int // places of a round

	batch      device.Scratch // the upload
	docs       device.Scratch // documents of the rarest words
	candidates device.Scratch
	found      device.Scratch // the state, then what phrase_match found
}

// newSlot makes a slot whose buffers grow to at most an eighth of the memory.
func (m *Maker) newSlot() (*slot, error) {
	rt, memory := m.set.Device, m.set.Memory
	bytes := min(rt.Info.Memory, memory.Size(), memory.Left()) / 8
	x := &slot{maker: m, Flight: device.NewFlight(rt, memory), ScratchMemory: device.NewScratchMemory(rt, memory, &m.used, "phrases"),
		most: int(max(min(bytes/(4*(1+2+foundWords)), rt.Info.MaxAlloc/(4*(foundWords+1)), 1<<24), 2*lists.RunLen))}
	err := x.Room(&x.batch, uploadWords, 0, "an upload of phrases")
	if err == nil {
		err = x.Open(uploadWords, stateWords+foundWords*early)
	}
	if err == nil {
		err = x.Prepare(find.KernelID)
	}
	if err != nil {
		x.release()
		return nil, err
	}
	return x, nil
}

// run makes the lists of a round.
func (x *slot) run(ctx context.Context, c *cut, made []*plan.Made, st *plan.Stats) error {
	defer x.ReleaseEvents()
	for _, p := range c.of {
		if made[p] == nil {
			made[p] = new(plan.Made)
		}
	}
	for _, n := range []struct {
		buffer *device.Scratch
		words  int
	}{{&x.docs, c.places}, {&x.candidates, 2 * c.places}, {&x.found, stateWords + foundWords*c.places}} {
		if err := x.Room(n.buffer, max(n.words, stateWords+foundWords*early), 6*x.most, "phrases"); err != nil {
			return err
		}
	}
	c.write(x.Up.Words)
	first := stateWords + foundWords*min(early, c.places)
	if err := x.Run(ctx, "making lists of phrases", func() error { return x.send(c, first) }); err != nil {
		return err
	}
	state := [stateWords]uint32(x.Down.Words)
	n := int(state[stateFound])
	if n > c.places {
		return x.Device.Impossible("%d documents with a phrase of %d", n, c.places)
	}
	if words := stateWords + foundWords*n; words > first {
		if err := x.Grow(ctx, &x.Down, words); err != nil {
			return err
		}
		if err := x.Run(ctx, "making lists of phrases", func() error { return x.Read(x.found.Buffer, words) }); err != nil {
			return err
		}
		first = words
	}
	st.PhraseCandidates += uint64(state[stateWithAll])
	sum := func(at int) uint64 { return uint64(state[at+1])<<32 | uint64(state[at]) }
	read := sum(stateRead)
	st.Positions += read
	st.DevicePositions += read
	st.BytesUp += uint64(4 * c.words)
	st.BytesDown += uint64(4 * first)
	if x.Device.CountLoads {
		st.BytesMoved += c.moved + 4*(4*uint64(state[stateAppended])+foundWords*uint64(n)+sum(stateLoaded))
	}
	if err := x.AddTimes(st); err != nil {
		return err
	}
	if err := c.collect(x.Down.Words[stateWords:stateWords+foundWords*n], made); err != nil {
		return err
	}
	if st.PhraseReason == "" && slices.ContainsFunc(c.of, func(p int) bool { return len(made[p].Left) > 0 }) {
		st.PhraseReason = "documents with too many positions"
	}
	return nil
}

// send enqueues a round. It runs in Runtime.Do.
func (x *slot) send(c *cut, first int) error {
	set, d := x.maker.set, c.data
	if err := x.Write(x.batch.Buffer, c.words); err != nil {
		return err
	}
	if err := x.Clear(x.found.Buffer, stateWords); err != nil {
		return err
	}
	var runs [len(lists.Decoders)]int
	for d := range runs {
		runs[d] = len(c.runs[d])
	}
	if err := lists.LaunchDecoders(&x.Flight, lists.DecodeArguments{A: set.Arena.Buffers, Runs: x.batch.Buffer, Out: x.docs.Buffer}, &runs, &c.runsAt); err != nil {
		return err
	}
	groups := (c.places + local - 1) / local
	err := find.Launch(&x.Flight, findArguments{a: set.Arena.Buffers, aux: cmp.Or(c.tables.Buffer, set.Arena.Buffers[0]), batch: x.batch.Buffer, docs: x.docs.Buffer,
		state: x.found.Buffer, candidates: x.candidates.Buffer, parts: len(c.parts), queriesAt: c.queriesAt, places: c.places}, groups, local, device.ProbeTime)
	if err != nil {
		return err
	}
	err = match.Launch(&x.Flight, matchArguments{a: set.Arena.Buffers, f: c.freqs, batch: x.batch.Buffer, docs: x.docs.Buffer, state: x.found.Buffer,
		candidates: x.candidates.Buffer, words: d.words, directory: d.directory, ranks: d.ranks, queriesAt: c.queriesAt, places: c.places,
		wordCount: d.wordCount, groups: d.groups, rankWords: d.rankCount}, groups, local, device.ScoreTime)
	if err != nil {
		return err
	}
	return x.Read(x.found.Buffer, first)
}

// collect adds what a round found, in any order, to the lists of its phrases. Documents with too many positions are left to the caller.
func (c *cut) collect(found []uint32, made []*plan.Made) error {
	ends := make([]int, len(c.queries)+1)
	for i := 0; i < len(found); i += foundWords {
		if found[i] >= uint32(len(c.queries)) {
			return c.set.Device.Impossible("phrase %d of %d", found[i], len(c.queries))
		}
		ends[found[i]+1]++
	}
	for q := range c.queries {
		ends[q+1] += ends[q]
	}
	keys := make([]uint64, len(found)/foundWords)
	next := slices.Clone(ends)
	for i := 0; i < len(found); i += foundWords {
		q := found[i]
		keys[next[q]] = uint64(found[i+1])<<32 | uint64(found[i+2])
		next[q]++
	}
	return device.InParallel(len(c.queries), 8*len(keys), func(q int) error {
		p := c.phrases[c.of[q]]
		m, own, shift := made[c.of[q]], keys[ends[q]:ends[q+1]], plan.FreqBits
		if p.Kind == plan.Sloppy {
			shift = 0
		}
		if count(p) > len(p.Slots) { // earlier rounds may have documents of other lists
			own = slices.Clip(own)
			for i, d := range m.Docs {
				own = append(own, uint64(d)<<32|m.Freqs[i]>>shift)
			}
			m.Docs, m.Freqs = m.Docs[:0], m.Freqs[:0]
		}
		slices.Sort(own)
		m.Docs, m.Freqs = slices.Grow(m.Docs, len(own)), slices.Grow(m.Freqs, len(own))
		for _, k := range own {
			if uint32(k) == long {
				m.Left = append(m.Left, uint32(k>>32))
			} else {
				m.Docs, m.Freqs = append(m.Docs, uint32(k>>32)), append(m.Freqs, uint64(uint32(k))<<shift)
			}
		}
		return nil
	})
}

// giveBack waits until no command is under way and returns the slot to the pool.
func (x *slot) giveBack() {
	x.Land()
	x.maker.free.Give(x)
}

func (x *slot) release() {
	x.Flight.Release()
	for _, m := range []*device.Scratch{&x.batch, &x.docs, &x.candidates, &x.found} {
		x.Drop(m)
	}
}

// The kernels and their arguments.
var (
	find  = device.NewKernel[findArguments]("phrase_find")
	match = device.NewKernel[matchArguments]("phrase_match")
)

type findArguments struct {
	a                                   [lists.MaxArenas]*ocl.MemObject
	aux, batch, docs, state, candidates *ocl.MemObject
	parts, queriesAt, places            int
}

type matchArguments struct {
	a, f                                                    [lists.MaxArenas]*ocl.MemObject
	batch, docs, state, candidates, words, directory, ranks *ocl.MemObject
	queriesAt, places, wordCount, groups, rankWords         int
}

// Operation registers the kernels of phrases. They are tested on first use.
var Operation = device.Operation{
	Name:     "phrase",
	Programs: []device.Program{{Kernels: []device.Function{find, match}, Files: device.Files("posting.cl", "seek.cl", "positions.cl", "phrase.cl")}},
	Limits:   func(device.Tuning) (localMemory, group int) { return 0, local },
}
