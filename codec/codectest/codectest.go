// Package codectest makes posting lists for tests. It has one named generator for each
// shape that could break a codec or an intersection.
package codectest

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Universe is one above the largest docID, the largest universe of a Generator.
const Universe = 1 << 32

// Generator makes lists of one shape.
type Generator struct {
	Name string
	// Gen returns a strictly increasing list of at most n docIDs below universe, which
	// is at most Universe. Unless the shape has a fixed length, the list has n docIDs,
	// or universe docIDs if that is less. The same rng state gives the same list.
	Gen func(rng *rand.Rand, n int, universe uint64) []uint32
}

// List runs the generator with a seed.
func (g Generator) List(seed uint64, n int, universe uint64) []uint32 {
	return g.Gen(rand.New(rand.NewPCG(seed, 0)), n, universe)
}

// Generators returns all generators. Their names are fit for subtests.
func Generators() []Generator {
	all := []Generator{
		{"empty", func(*rand.Rand, int, uint64) []uint32 { return nil }},
		{"one", func(rng *rand.Rand, n int, universe uint64) []uint32 { return uniform(rng, min(n, 1), universe) }},
		{"dense-run", slack(denseRun)},
		{"every-kth", slack(everyKth)},
		{"uniform", uniform},
		{"clustered", slack(clustered)},
		{"outliers", slack(outliers)},
		{"huge-gap", slack(hugeGap)},
		{"first-and-last", slack(firstAndLast)},
		{"ends-at-top", slack(endsAtTop)},
		{"step", slack(step)},
		{"parabola", slack(parabola)},
		{"root", slack(root)},
	}
	// The lengths around a segment of ParaPFor and a block of Bitset.
	for _, length := range []int{127, 128, 129, 511, 512, 513} {
		all = append(all, Generator{fmt.Sprintf("length-%d", length), func(rng *rand.Rand, _ int, universe uint64) []uint32 {
			return uniform(rng, length, universe)
		}})
	}
	return all
}

// slack makes a list from a shape. A shape fills room with numbers from 0 to free that
// do not descend, and docID i is room[i] + i. So every list ascends strictly and fits
// into the universe.
func slack(shape func(rng *rand.Rand, room []uint64, free uint64)) func(*rand.Rand, int, uint64) []uint32 {
	return func(rng *rand.Rand, n int, universe uint64) []uint32 {
		n = int(min(uint64(max(n, 0)), universe))
		if n == 0 {
			return nil
		}
		room := make([]uint64, n)
		shape(rng, room, universe-uint64(n))
		docs := make([]uint32, n)
		for i, r := range room {
			docs[i] = uint32(r + uint64(i))
		}
		return docs
	}
}

// uniform draws docIDs from the whole universe.
var uniform = slack(func(rng *rand.Rand, room []uint64, free uint64) {
	for i := range room {
		room[i] = rng.Uint64N(free + 1)
	}
	slices.Sort(room)
})

// denseRun is one run of consecutive docIDs.
func denseRun(rng *rand.Rand, room []uint64, free uint64) {
	start := rng.Uint64N(free + 1)
	for i := range room {
		room[i] = start
	}
}

// everyKth has equal gaps, as large as possible or of a random smaller size.
func everyKth(rng *rand.Rand, room []uint64, free uint64) {
	gap := rng.Uint64N(free/uint64(len(room)) + 1)
	if rng.IntN(2) == 0 {
		gap = free / uint64(len(room))
	}
	for i := range room {
		room[i] = gap * uint64(i+1)
	}
}

// clustered has clusters of about 32 docIDs with small gaps, far apart.
func clustered(rng *rand.Rand, room []uint64, free uint64) {
	for i := 0; i < len(room); {
		centre := rng.Uint64N(free + 1)
		for range 1 + rng.IntN(63) {
			if i < len(room) {
				room[i] = min(centre+rng.Uint64N(100), free)
				i++
			}
		}
	}
	slices.Sort(room)
}

// outliers has small gaps and, one in twenty, a large one: exceptions.
func outliers(rng *rand.Rand, room []uint64, free uint64) {
	at := uint64(0)
	for i := range room {
		at += rng.Uint64N(8)
		if rng.IntN(20) == 0 {
			at += rng.Uint64N(16*free/uint64(len(room)) + 1)
		}
		at = min(at, free)
		room[i] = at
	}
}

// hugeGap is a run at either end of the universe.
func hugeGap(rng *rand.Rand, room []uint64, free uint64) {
	for i := rng.IntN(len(room) + 1); i < len(room); i++ {
		room[i] = free
	}
}

// firstAndLast has docID 0 and, if the list is longer than one, universe-1.
func firstAndLast(rng *rand.Rand, room []uint64, free uint64) {
	for i := 1; i < len(room)-1; i++ {
		room[i] = rng.Uint64N(free + 1)
	}
	slices.Sort(room)
	if len(room) > 1 {
		room[len(room)-1] = free
	}
}

// endsAtTop has small gaps and ends at universe-1.
func endsAtTop(rng *rand.Rand, room []uint64, free uint64) {
	at := free
	for i := len(room) - 1; i >= 0; i-- {
		room[i] = at
		at -= min(at, rng.Uint64N(64))
	}
}

// step is a staircase of runs far apart, the worst case of a regression line.
func step(rng *rand.Rand, room []uint64, free uint64) {
	stairs := 2 + rng.IntN(7)
	for i := range room {
		room[i] = free / uint64(stairs) * uint64(i*stairs/len(room)+1)
	}
}

// parabola has docIDs that grow with the square of the index.
func parabola(_ *rand.Rand, room []uint64, free uint64) {
	for i := range room {
		x := uint64(i) << 16 / uint64(len(room)) // index as a fraction, 16 bits
		room[i] = x * x * free >> 32
	}
}

// root is the reverse of the parabola: large gaps first.
func root(_ *rand.Rand, room []uint64, free uint64) {
	for i := range room {
		x := uint64(len(room)-1-i) << 16 / uint64(len(room))
		room[i] = free - x*x*free>>32
	}
}
