// Package filter keeps sets of documents on a device, to restrict queries.
//
// A set has one bit for each document, and a set of few documents their docIDs too, in a region of
// the buffer that all stores of the device share (device.Regions). The bits come from the host or
// from a selection on a table.
package filter

import (
	"context"
	"math/bits"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/plan"
)

// Set is a set of documents. It does not change. It implements plan.Filter.
type Set struct {
	rt       *device.Runtime
	universe uint32
	count    uint32
	region   device.Region
	padded   int          // words of bits; a multiple of chunk
	span     int          // words of bits that are counted together
	bits     lists.Record // a bitset
	docs     lists.Record // a raw list, if listed
	room     int          // words for docIDs; 0 where memory was short
	listed   bool         // the docIDs follow the bits
}

const (
	chunk     = 256  // words; RANGE_WORDS of kernels/expression.cl
	maxGroups = 1024 // work-groups of a launch at most
	unit      = 4    // words
	// sparse is the number of documents of the universe for each docID of a listed set: the docIDs
	// take at most the memory of the bits.
	sparse = 32
)

// New copies the bits of the documents of a universe to a device.
func New(ctx context.Context, rt *device.Runtime, universe uint32, set []uint64) (*Set, error) {
	if err := selfTestOnce(ctx, rt); err != nil {
		return nil, err
	}
	return upload(ctx, rt, universe, set)
}

// upload is New without a self-test.
func upload(ctx context.Context, rt *device.Runtime, universe uint32, set []uint64) (*Set, error) {
	if err := plan.CheckFilter(universe, set); err != nil {
		return nil, err
	}
	s := sized(rt, universe, chunk*(1+2*len(set)/(chunk*maxGroups)))
	words := make([]uint32, unit*(s.least()-1))
	counts, total := words[s.padded:], &words[s.padded+s.spans()]
	for i, x := range set {
		words[2*i], words[2*i+1] = uint32(x), uint32(x>>32)
		n := uint32(bits.OnesCount64(x))
		counts[2*i/s.span] += n
		*total += n
	}
	return device.Detached(ctx, rt, func() (*Set, error) {
		if err := s.open(); err != nil {
			return nil, err
		}
		x := device.NewFlight(rt, rt.Memory)
		defer x.Release()
		var err error
		if x.Queue, err = rt.NewQueue(); err == nil {
			err = rt.Regions.Fill(func(m *ocl.MemObject) error {
				if err := rt.WriteWords(context.Background(), m, unit*s.region.At, words); err != nil {
					return err
				}
				defer x.Land()
				if err := rt.Do(func() error { return s.Send(&x, m, m, unit*s.CountsAt()+s.spans()) }); err != nil {
					return rt.Fail("making a filter", err)
				}
				return x.WaitHere(x.Last())
			})
		}
		if err != nil {
			return nil, s.Fail(err)
		}
		s.End(*total)
		return s, nil
	}, func(s *Set) { _ = s.Close() })
}

// Begin makes room for a set of documents of a universe. It is a set once commands have written its bits and
// the number of documents in each span of so many words to its region (At and CountsAt, in Regions.Fill), Send
// has followed them, and End. Fail frees it.
func Begin(ctx context.Context, rt *device.Runtime, universe uint32, span int) (*Set, error) {
	if err := selfTestOnce(ctx, rt); err != nil {
		return nil, err
	}
	s := sized(rt, universe, span)
	if err := s.open(); err != nil {
		return nil, err
	}
	return s, nil
}

// sized returns a set without a region.
func sized(rt *device.Runtime, universe uint32, span int) *Set {
	s := &Set{rt: rt, universe: universe, span: span}
	s.padded = max((s.words()+chunk-1)/chunk, 1) * chunk
	return s
}

// open makes the region.
func (s *Set) open() (err error) {
	if _, err := s.rt.ProgramOf(listing.KernelID); err != nil {
		return err
	}
	s.room = int(s.universe/sparse)/unit*unit + unit
	if s.region, err = s.rt.Regions.Take(s.least() + s.room/unit); err != nil {
		s.room = 0
		s.region, err = s.rt.Regions.Take(s.least())
	}
	return err
}

// words is the number of words with documents.
func (s *Set) words() int { return 2 * plan.FilterWords(s.universe) }

// spans is the number of spans, at least 1.
func (s *Set) spans() int { return max((s.words()+s.span-1)/s.span, 1) }

// least is the number of units of a set without docIDs: of its bits, the counts of spans and their sum, and a unit that
// an upload pads with zeros.
func (s *Set) least() int { return s.padded/unit + s.spans()/unit + 2 }

// listing is the kernel that completes a set.
var listing = device.NewKernel[listArguments]("filter_list")

type listArguments struct {
	region, totals                                                 *ocl.MemObject
	at, words, padded, span, each, countsAt, docsAt, room, totalAt int
}

// Send enqueues the kernel that completes the set behind the commands that write its bits and counts to m, and
// the number of its documents to a word of totals. It runs in Runtime.Do.
func (s *Set) Send(x *device.Flight, m, totals *ocl.MemObject, totalAt int) error {
	each := (s.spans() + maxGroups - 1) / maxGroups
	return listing.Launch(x, listArguments{region: m, at: s.region.At, words: s.words(), padded: s.padded, span: s.span, each: each,
		countsAt: s.CountsAt(), docsAt: s.region.At + s.least(), room: min(int(s.universe/sparse), s.room), totals: totals, totalAt: totalAt},
		(s.spans()+each-1)/each, workGroup(s.rt.Tuning), device.CompactTime)
}

// End notes the number of documents, once the commands of Send have ended.
func (s *Set) End(count uint32) {
	s.count, s.listed = count, s.room > 0 && uint64(count)*sparse <= uint64(s.universe)
	used := s.least() // so that the next set fits its place
	if s.listed {
		used += (int(count) + unit - 1) / unit
	}
	s.rt.Regions.Give(device.Region{At: s.region.At + used, Units: s.region.Units - used})
	s.region.Units = used
	const buffer = lists.FilterArena << 8
	at := uint32(s.region.At)
	s.bits = lists.Record{at, count, uint32(s.padded / 16 * 17), uint32(codec.Bitset) | buffer} // without the ranks of its blocks
	s.docs = lists.Record{at + uint32(s.least()), count, count, uint32(codec.Raw) | buffer}
}

// Fail frees a set that did not come about. No command may use it. It returns err.
func (s *Set) Fail(err error) error {
	s.rt.Regions.Give(s.region)
	return err
}

// Check returns plan.ErrUnsupported for a filter of another device or universe.
func Check(filters []plan.Filter, rt *device.Runtime, universe uint32) error {
	return plan.OwnFilters(filters, func(s *Set) bool { return s.rt == rt && s.universe == universe })
}

// Of returns the set behind a filter that Check has passed; nil for nil.
func Of(f plan.Filter) *Set {
	s, _ := f.(*Set)
	return s
}

// At returns where the bits begin in the shared buffer, in units of four words.
func (s *Set) At() int { return s.region.At }

// CountsAt returns where the numbers of documents of the spans begin, in units of four words.
func (s *Set) CountsAt() int { return s.region.At + s.padded/unit }

// Words is the number of words of bits: zeros follow the last document up to a multiple of 256.
func (s *Set) Words() uint32 { return uint32(s.padded) }

// Bits returns the set as a bitset in the buffer of filters. It has no ranks of blocks.
func (s *Set) Bits() *lists.Record { return &s.bits }

// Docs returns the set as a raw list in the buffer of filters. It is nil for a set of many documents.
func (s *Set) Docs() *lists.Record {
	if !s.listed {
		return nil
	}
	return &s.docs
}

// Universe implements plan.Filter.
func (s *Set) Universe() uint32 { return s.universe }

// Count implements plan.Filter.
func (s *Set) Count() uint32 { return s.count }

// Memory implements plan.Filter.
func (s *Set) Memory() uint64 { return 4 * unit * uint64(s.region.Units) }

// Close implements plan.Filter.
func (s *Set) Close() error {
	s.rt.Regions.Give(s.region)
	s.region.Units = 0
	return nil
}
