package phrase

import (
	"cmp"
	"context"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
)

const (
	local      = 64 // work-group size of the kernels
	together   = 4  // TOGETHER of the kernels
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

// slot holds the buffers of one round under way. It belongs to the goroutine that took it.
type slot struct {
	device.Flight
	device.ScratchMemory
	maker *Maker

	batch      device.Scratch // the upload
	docs       device.Scratch // documents of the rarest words
	candidates device.Scratch
	found      device.Scratch // the state, then what phrase_match found
}

// newSlot makes a slot whose buffers grow with the rounds.
func (m *Maker) newSlot() (*slot, error) {
	rt, memory := m.set.Device, m.set.Memory
	x := &slot{maker: m, Flight: device.NewFlight(rt, memory), ScratchMemory: device.NewScratchMemory(rt, memory, &m.used, "phrases")}
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

// run finds the documents of a round.
func (x *slot) run(ctx context.Context, c *cut) error {
	defer x.ReleaseEvents()
	for _, n := range []struct {
		buffer *device.Scratch
		words  int
	}{{&x.docs, c.places}, {&x.candidates, 2 * c.places}, {&x.found, stateWords + foundWords*c.places}} {
		if err := x.Room(n.buffer, max(n.words, stateWords+foundWords*early), 6*c.data.most, "phrases"); err != nil {
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
	st := &c.stats
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
	c.found = append(c.found[:0], x.Down.Words[stateWords:stateWords+foundWords*n]...)
	return x.AddTimes(st)
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
		state: x.found.Buffer, candidates: x.candidates.Buffer, parts: len(c.parts), queriesAt: c.queriesAt, places: c.places}, (c.places/together+local-1)/local, local, device.ProbeTime)
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
