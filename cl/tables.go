package cl

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/codec"
	"heddle/engine/plan"
)

// algorithms that the kernels run.
var algorithms = []plan.Algorithm{plan.BS, plan.IS, plan.LR, plan.LRSeg, plan.HS8, plan.HS16, plan.HS32, plan.HS64, plan.HS128, plan.HS256,
	plan.PMF0, plan.PMF1, plan.PMF2, plan.PMF3, plan.PMF4, plan.MergePath, plan.Bits}

// Kinds of probes, as in kernels/common.cl.
const (
	probeBS   = 0
	probeHS   = 1
	probeLR   = 2
	probeBits = 3
	probeOwn  = 4
	probeSeg  = 5
	probeIS   = 6
	probePMF  = 7
)

// tables are the auxiliary tables of one algorithm in a buffer, and the term
// records of all lists, which say where each one's table lies.
type tables struct {
	buffer  *ocl.MemObject // nil where the algorithm has none
	bytes   uint64
	records []record
}

// tableRef is what a term record says of a table.
type tableRef struct {
	off     uint32 // words
	words   uint32
	entries uint32
	levels  uint32 // of splitters
	kind    uint8
	shift   uint8
}

// with is the feature that a probe of this kind asks for.
func (r *tableRef) with() feature {
	switch r.kind {
	case probeSeg:
		return useLRSeg
	case probeIS:
		return useIS
	case probePMF:
		return usePMF
	}
	return 0
}

// lrSegment is how many positions share a safe range, LRSEG_SEGMENT in
// kernels/common.cl.
const lrSegment = 256

// tableFor says which table list l gets under algorithm a. last is the list's
// greatest docID. Lists no longer than a bucket, and bitsets, need none; hslrc
// brings its own buckets.
func tableFor(a plan.Algorithm, l codec.List, docs, last uint32) tableRef {
	if l.Codec == codec.Bitset || l.Len == 0 {
		return tableRef{}
	}
	bucket := a.Bucket()
	if a == plan.Bits && l.Len > bucket && uint64(l.Len)*plan.DenseRatio > uint64(docs) {
		words := last>>5 + 1
		return tableRef{kind: probeBits, words: words, entries: words}
	}
	switch {
	case l.Codec == codec.HSLRC128 || l.Codec == codec.HSLRC256:
		shift, buckets := l.Words[0], l.Words[1] // lastDoc has read them
		return tableRef{kind: probeOwn, shift: uint8(shift), entries: buckets}
	case a >= plan.PMF0 && a <= plan.PMF4 && l.Codec == codec.Raw:
		levels, _ := a.Levels()
		return tableRef{kind: probePMF, levels: uint32(levels)}
	case l.Len <= 16:
	case lookup(l.Codec)&useGaps != 0 && bucket == 0: // no range holds for docIDs that are not in the list
	case a == plan.IS && l.Codec == codec.Raw:
		return tableRef{kind: probeIS}
	case a == plan.LRSeg:
		words := 4 + 2*((l.Len-1)/lrSegment+1)
		return tableRef{kind: probeSeg, words: words, entries: words}
	case a == plan.LR:
		return tableRef{kind: probeLR, words: 8, entries: 8}
	case l.Len > bucket && bucket > 0:
		shift := codec.BucketShift(l.Len, docs, bucket)
		entries := uint32(uint64(last)>>shift) + 2
		return tableRef{kind: probeHS, shift: shift, words: entries, entries: entries}
	}
	return tableRef{}
}

// lastDoc reads the greatest docID of a list; it decodes a block of it at most.
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

// planTables lays the tables of algorithm a out; words is their total. It looks at
// every list, whether it gets a table or not.
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
		ref.off = uint32(words) // right unless the total is refused below
		refs[h] = ref
		words += uint64(ref.words)
	}
	if words > 1<<32-1 {
		return nil, 0, &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: "opencl", Op: "laying out tables of " + a.String(),
			Err: fmt.Errorf("they take %d bytes, kernels address 16 GiB", 4*words)}
	}
	return refs, words, nil
}

// loadTables builds the tables of a on all cores and makes them resident.
func (s *Store) loadTables(ctx context.Context, a plan.Algorithm) (*tables, error) {
	b := s.backend
	refs, words, err := planTables(a, s.src)
	if err != nil {
		return nil, err
	}
	if words == 0 {
		return &tables{records: s.records(refs)}, nil
	}
	t := &tables{records: s.records(refs), bytes: 4 * (words + plan.ListAlign)}
	if most := min(b.dev.info.MaxAlloc, 4<<32); t.bytes > most { // offsets are 32 bits of words
		return nil, &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: b.dev.String(), Op: "loading tables of " + a.String(),
			Err: fmt.Errorf("they take %d bytes, a buffer has at most %d", t.bytes, most)}
	}
	if err := b.reserve(t.bytes, "tables of "+a.String()); err != nil {
		return nil, err
	}
	if t.buffer, err = b.buffer(ocl.MemReadOnly, t.bytes, "tables"); err == nil {
		err = b.fillTables(ctx, s.src, refs, t.buffer)
	}
	if err != nil {
		t.release(b)
		return nil, err
	}
	return t, nil
}

// tablesAtOnce is how many words of tables are built before they are uploaded;
// one table may be longer.
const tablesAtOnce = 32 << 20

// fillTables builds the tables piece by piece and uploads each.
func (b *Backend) fillTables(ctx context.Context, src *plan.Source, refs []tableRef, buffer *ocl.MemObject) error {
	var host []uint32
	for from := 0; from < len(refs); {
		start, to, size := refs[from].off, from, uint32(0)
		for to < len(refs) && (to == from || refs[to].off-start+refs[to].words <= tablesAtOnce) {
			size = refs[to].off - start + refs[to].words
			to++
		}
		host = slices.Grow(host[:0], int(size))[:size]
		clear(host)
		if err := buildTables(ctx, src, refs, from, to, host); err != nil {
			return err
		}
		if size > 0 {
			if err := b.writeWords(buffer, int(start), host); err != nil {
				return err
			}
		}
		from = to
	}
	return nil
}

func (t *tables) release(b *Backend) {
	if t.buffer != nil {
		t.buffer.Release()
	}
	b.unreserve(t.bytes)
}

// buildTables decodes the lists from to to-1 on all cores and writes their tables
// to host, which begins where the table of the first one does.
func buildTables(ctx context.Context, src *plan.Source, refs []tableRef, from, to int, host []uint32) error {
	var next atomic.Int64
	next.Store(int64(from))
	var wg sync.WaitGroup
	errs := make([]error, runtime.GOMAXPROCS(0))
	for i := range errs {
		wg.Go(func() {
			var docs, starts []uint32
			for errs[i] == nil {
				h := int(next.Add(1) - 1)
				if h >= to {
					return
				}
				r := refs[h]
				if r.words == 0 {
					continue
				}
				if errs[i] = ctx.Err(); errs[i] != nil {
					return
				}
				var err error
				if docs, err = src.List(plan.Handle(h)).AppendTo(docs[:0]); err != nil {
					errs[i] = fmt.Errorf("list %d: %w", h, err)
					return
				}
				table := host[r.off-refs[from].off:][:r.words]
				switch r.kind {
				case probeHS:
					starts = codec.AppendBuckets(starts[:0], docs, r.shift)
					copy(table, starts)
				case probeLR:
					l := codec.FitLine(docs)
					for k, v := range [4]int64{l.Slope, l.Intercept, l.Left, l.Right} {
						table[2*k], table[2*k+1] = uint32(uint64(v)), uint32(uint64(v)>>32)
					}
				case probeSeg:
					localRanges(table, docs)
				case probeBits:
					for _, d := range docs {
						table[d>>5] |= 1 << (d & 31)
					}
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// localRanges writes the table of LRSeg: one line for the list, and for every
// segment of positions that it predicts how far to the left and to the right of
// them docIDs lie (Ao et al. 2011, section 4.3, where a search finds the segment).
func localRanges(table, docs []uint32) {
	l := codec.FitLine(docs)
	for k, v := range [2]int64{l.Slope, l.Intercept} {
		table[2*k], table[2*k+1] = uint32(uint64(v)), uint32(uint64(v)>>32)
	}
	for i, d := range docs {
		at := min(max((int64(d)*l.Slope+l.Intercept)>>codec.LineShift, 0), int64(len(docs)-1))
		local := table[4+2*(at/lrSegment):]
		local[0] = max(local[0], uint32(max(at-int64(i), 0)))
		local[1] = max(local[1], uint32(max(int64(i)-at, 0)))
	}
}
