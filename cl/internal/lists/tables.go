package lists

import (
	"context"
	"fmt"
	"slices"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/codec"
	"heddle/engine/plan"
)

// Kinds of probes, as in kernels/common.cl.
const (
	probeBS   = 0
	ProbeHS   = 1
	ProbeLR   = 2
	ProbeBits = 3
	ProbeOwn  = 4
	ProbeSeg  = 5
	ProbeIS   = 6
	ProbePMF  = 7
	ProbeLine = 8
)

// Tables holds the auxiliary tables of one algorithm in a buffer, and the term records
// of all lists, which refer to the tables.
type Tables struct {
	Buffer  *ocl.MemObject // nil if the algorithm has no tables
	memory  *device.Budget
	Bytes   uint64
	Records []Record
}

// tableRef describes the table of one list.
type tableRef struct {
	off     uint32 // words
	words   uint32
	entries uint32
	levels  uint32 // levels of splitters
	probe   uint8
	shift   uint8
}

// with returns the features of a program with this kind of probe.
func (r *tableRef) with() device.Features {
	switch r.probe {
	case ProbeSeg:
		return UseLRSeg
	case ProbeLine:
		return UseLRSplit
	case ProbeIS:
		return UseIS
	case ProbePMF:
		return UsePMF
	}
	return 0
}

// lrSegment is the number of positions that share a safe range, LRSEG_SEGMENT in
// kernels/common.cl.
const lrSegment = 256

// splitWords is the size of a segment in a table of plan.LRSplit.
const splitWords = 6

// tableFor returns the table of list l under algorithm a, for a universe of docs documents.
// last is the greatest docID of the list. Bitsets and lists no longer than a bucket need
// none, hslrc has buckets of its own.
func tableFor(a plan.Algorithm, l codec.List, docs, last uint32) tableRef {
	if l.Codec == codec.Bitset || l.Len == 0 {
		return tableRef{}
	}
	bucket := a.Bucket()
	if a == plan.Bits && l.Len > bucket && uint64(l.Len)*plan.DenseRatio > uint64(docs) {
		words := (last>>7 + 1) * 4
		return tableRef{probe: ProbeBits, words: words, entries: words}
	}
	switch {
	case l.Codec == codec.HSLRC128 || l.Codec == codec.HSLRC256:
		shift, buckets := l.Words[0], l.Words[1] // lastDoc has checked them
		return tableRef{probe: ProbeOwn, shift: uint8(shift), entries: buckets}
	case a >= plan.PMF0 && a <= plan.PMF4 && l.Codec == codec.Raw:
		levels, _ := a.Levels()
		return tableRef{probe: ProbePMF, levels: uint32(levels)}
	case l.Len <= 16:
	case Lookup(l.Codec)&UseGaps != 0 && bucket == 0: // no range holds for docIDs outside the list
	case a == plan.IS && l.Codec == codec.Raw:
		return tableRef{probe: ProbeIS}
	case a == plan.LRSeg:
		words := 4 + 2*((l.Len-1)/lrSegment+1)
		return tableRef{probe: ProbeSeg, words: words, entries: words}
	case a == plan.LRSplit:
		words := splitWords * ((l.Len-1)/codec.SplitLen + 1)
		return tableRef{probe: ProbeLine, words: words, entries: words}
	case a == plan.LR:
		return tableRef{probe: ProbeLR, words: 8, entries: 8}
	case l.Len > bucket && bucket > 0:
		shift := codec.BucketShift(l.Len, docs, bucket)
		entries := uint32(uint64(last)>>shift) + 2
		return tableRef{probe: ProbeHS, shift: shift, words: entries, entries: entries}
	}
	return tableRef{}
}

// TakesTables tells whether lists have tables under a.
func TakesTables(a plan.Algorithm) bool {
	return a == plan.LR || a == plan.LRSeg || a == plan.LRSplit || a.Bucket() > 0
}

// lastDoc reads the greatest docID of a list. It decodes at most one block with documents.
func lastDoc(l codec.List) (uint32, error) {
	if l.Len == 0 || l.Codec == codec.Bitset {
		return 0, nil
	}
	if l.Codec == codec.ParaPFor {
		s, err := l.Segments()
		if err != nil {
			return 0, err
		}
		return s.Last[len(s.Last)-1], nil
	}
	var b codec.Blocks
	if err := b.Open(l); err != nil {
		return 0, err
	}
	for k := b.Count() - 1; k >= 0; k-- { // buckets may be empty
		if docs, err := b.Decode(nil, k); err != nil || len(docs) > 0 {
			return slices.Max(append(docs, 0)), err
		}
	}
	return 0, &codec.CorruptError{Codec: l.Codec, Reason: "the list is shorter than its length says"}
}

// planTables lays the tables of algorithm a out and returns their total size in words. It
// checks every list, also a list without a table.
func planTables(a plan.Algorithm, src *plan.Source) (refs []tableRef, words uint64, err error) {
	refs = make([]tableRef, len(src.Lists))
	for h, l := range src.Lists {
		list := src.List(plan.Handle(h))
		last, err := lastDoc(list)
		if err != nil {
			return nil, 0, fmt.Errorf("list %d: %w", h, err)
		}
		if last >= src.Docs && l.Len > 0 && l.Codec != codec.Bitset {
			return nil, 0, fmt.Errorf("list %d: %w", h, &codec.CorruptError{Codec: l.Codec, Reason: "docIDs beyond the universe"})
		}
		ref := tableFor(a, list, src.Docs, last)
		words = (words + 3) / 4 * 4 // kernels read four words at a time
		ref.off = uint32(words)     // exact unless the total is refused below
		refs[h] = ref
		words += uint64(ref.words)
	}
	if words > 1<<32-1 {
		return nil, 0, &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: "opencl", Op: "laying out tables of " + a.String(),
			Err: fmt.Errorf("they take %d bytes, kernels address 16 GiB", 4*words)}
	}
	return refs, words, nil
}

// loadTables builds the tables of a on all cores and copies them to the device.
func (s *Set) loadTables(ctx context.Context, a plan.Algorithm) (*Tables, error) {
	rt := s.Device
	refs, words, err := planTables(a, s.Src)
	if err != nil {
		return nil, err
	}
	if words == 0 {
		return &Tables{Records: s.Records(refs)}, nil
	}
	t := &Tables{Records: s.Records(refs), memory: rt.Memory, Bytes: 4 * (words + plan.ListAlign)}
	if most := min(rt.Info.MaxAlloc, 4<<32); t.Bytes > most { // offsets count words in 32 bits
		return nil, rt.OutOfMemory("loading tables of "+a.String(), fmt.Errorf("they take %d bytes, a buffer has at most %d", t.Bytes, most))
	}
	if err := t.memory.Reserve(t.Bytes, "tables of "+a.String()); err != nil {
		return nil, err
	}
	if t.Buffer, err = rt.ReadOnly(ctx, t.Bytes, "tables"); err == nil {
		err = fillTables(ctx, rt, s.Src, refs, t.Buffer)
	}
	if err != nil {
		t.release()
		return nil, err
	}
	return t, nil
}

// release frees the tables.
func (t *Tables) release() {
	if t.Buffer != nil {
		t.Buffer.Release()
	}
	if t.Bytes > 0 {
		t.memory.Unreserve(t.Bytes)
	}
}
