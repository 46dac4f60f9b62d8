package match

import (
	"cmp"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
)

// The kernels and their arguments.
var (
	intersect  = device.NewKernel[probeArguments]("intersect")
	merge      = device.NewKernel[probeArguments]("merge")
	mergeAhead = device.NewKernel[mergeAheadArguments]("merge_ahead")
	gather     = device.NewKernel[gatherArguments]("gather")
)

type probeArguments struct {
	a                                          [lists.MaxArenas]*ocl.MemObject
	aux, batch, decoded, matches, counts, sums *ocl.MemObject
	tilesAt, sumsAt                            int
	countOnly                                  bool
	loadsTotal                                 *ocl.MemObject `macro:"COUNT_LOADS"`
}

type mergeAheadArguments struct {
	a                                    [lists.MaxArenas]*ocl.MemObject
	aux, batch, decoded, out, state      *ocl.MemObject
	tilesAt, ticket, epoch, docsAt, room int
	loadsTotal                           *ocl.MemObject `macro:"COUNT_LOADS"`
}

type gatherArguments struct {
	matches, sums, out          *ocl.MemObject
	sumsAt, docsAt, tiles, tile int
}

// enqueue enqueues a round: one upload, a launch for each decoder that it needs, two more
// launches and one download. The queue is in order. It runs in Runtime.Do.
func (x *slot) enqueue() error {
	if x.round.tiles == 0 {
		return nil
	}
	err := x.Device.Fault("enqueue")
	if err == nil {
		err = x.launchAll()
	}
	if err != nil && x.look != nil {
		x.look.Reset() // the launch may not have drawn its tickets
	}
	return x.Device.Fail("running a batch", err)
}

func (x *slot) launchAll() error {
	rt, r := x.Device, &x.round
	if err := x.Write(x.batch, r.words); err != nil {
		return err
	}
	if rt.CountLoads {
		if err := x.Clear(x.loads, 4); err != nil {
			return err
		}
	}
	args := lists.DecodeArguments{A: x.matcher.set.Arena.Buffers, Runs: x.batch, Out: x.decoded}
	if err := lists.LaunchDecoders(&x.Flight, args, &r.runs, &r.runsAt); err != nil {
		return err
	}
	ahead := r.merge && !x.countOnly && x.look != nil // the kernel writes the matches to their final places
	var err error
	switch {
	case ahead:
		err = x.launchMergeAhead()
	case r.merge:
		err = x.launchProbe(merge, mergeLocal(rt.Tuning))
	default:
		err = x.launchProbe(intersect.For(r.with), probeLocal(rt.Tuning, r.with))
	}
	if err == nil && !ahead && !x.countOnly && r.parts == 0 {
		err = gather.Launch(&x.Flight, gatherArguments{matches: x.found, sums: x.batch, out: x.out, sumsAt: r.sumsAt, docsAt: x.docsAt, tiles: r.tiles, tile: int(r.tile)},
			gatherGroups(rt.Tuning, r.tiles), workGroup(rt.Tuning), device.CompactTime)
	}
	if err != nil {
		return err
	}
	if r.parts > 0 {
		err = x.readParts()
	} else {
		err = x.ReadAt(x.out, 0, 0, x.fetched)
	}
	return cmp.Or(err, x.Queue.Flush())
}

// launchProbe enqueues the kernel that searches for the elements of the tiles.
func (x *slot) launchProbe(kernel device.Kernel[probeArguments], local int) error {
	r := &x.round
	launch, groups, sumsAt := device.Kernel[probeArguments].Launch, r.tiles, r.sumsAt
	if r.parts > 0 { // in pieces, each one would take as long as its longest query
		launch, groups, sumsAt = device.Kernel[probeArguments].LaunchWhole, r.parts, r.sumsAt/4
	}
	return launch(kernel, &x.Flight, probeArguments{a: x.arena(), aux: x.aux(), batch: x.batch, tilesAt: r.tilesAt, decoded: x.decoded, matches: x.found,
		counts: x.out, sums: x.batch, sumsAt: sumsAt, countOnly: x.countOnly, loadsTotal: x.loads}, groups, local, device.ProbeTime)
}

// arena returns the buffers of lists, with the buffer of filters or of unpacked lists.
func (x *slot) arena() [lists.MaxArenas]*ocl.MemObject {
	all := x.matcher.set.Buffers(x.round.filtered)
	if x.round.unpacked {
		all[lists.UnpackedArena] = x.decoded
	}
	return all
}

// finish waits for the round, downloads the results beyond the first download, and sends
// the error to done. It runs on a goroutine of its own, so that a caller may give up.
func (x *slot) finish() {
	err := func() error {
		rt := x.Device
		x.matches = 0
		if x.round.tiles == 0 { // no command was sent
			return nil
		}
		if err := x.wait(); err != nil {
			return err
		}
		if err := x.count(); err != nil {
			return err
		}
		from, end := x.fetched, x.docsAt+x.matches
		if x.countOnly || x.round.parts > 0 || end <= from {
			return nil
		}
		if end > len(x.Down.Words) {
			batch := int(rt.Info.Batch * x.matcher.matchRate.Load() >> 16)
			if err := rt.Grow(&x.Down, roomFor(max(end, batch)), from); err != nil {
				return err
			}
		}
		err := rt.Do(func() (err error) {
			err = x.ReadAt(x.out, from, from, end-from)
			return cmp.Or(err, x.Queue.Flush())
		})
		if err == nil {
			err = ocl.WaitForEvents([]*ocl.Event{x.Last()})
		}
		return rt.Fail("downloading results", err)
	}()
	if err != nil {
		_ = x.Queue.Finish() // no command may be under way when the slot is used again
	}
	x.Done <- err
}

// roomFor is the memory that results of so many words get. Growing is slow: a quarter more lets it
// happen once, but not where the memory would become too large to be lent.
func roomFor(words int) int {
	if words <= mostLent {
		return min(words*5/4, mostLent)
	}
	return words * 5 / 4
}

// wait waits for the commands of the round, in turn with other large rounds.
func (x *slot) wait() error {
	if turns := x.matcher.turns; x.round.candidates >= largeRound {
		turns <- struct{}{}
		defer func() { <-turns }()
	}
	return x.WaitHere(x.Last())
}

// count adds up the matches of the tiles.
func (x *slot) count() error {
	matches := uint64(0)
	for _, n := range x.Down.Words[:cmp.Or(x.round.parts, x.round.tiles)] {
		matches += uint64(n)
	}
	if matches > x.round.candidates {
		return x.Device.Impossible("%d matches of %d candidates", matches, x.round.candidates)
	}
	x.matches = int(matches)
	return nil
}
