package codec

import (
	"fmt"
	"math"
	"slices"
)

// LineSegment is the number of docIDs in a segment of LRC, LRCPFor, LRCSeg and SegLRC; the
// last segment of a list may hold fewer.
const LineSegment = 256

const (
	globalHeader = 8 // words of the header of LRC, LRCPFor and LRCSeg
	bucketHeader = 4 // words of the header of HSLRC128 and HSLRC256
	headerWords  = 2 // words of a record of LRCPFor
	segmentWords = 3 // words of a record of LRCSeg and SegLRC
	bucketWords  = 4 // words of a record of HSLRC128 and HSLRC256
)

// Lines is a view of a list of a line codec: LRC, LRCPFor, LRCSeg, SegLRC, HSLRC128 or
// HSLRC256. Arithmetic gives any docID of the list without the docIDs before it. The
// blocks of the list are segments of LineSegment docIDs, or hash buckets.
//
//	LRC       {slope lo, hi, intercept lo, hi, b, 0, 0, 0}; keys; payload
//	LRCPFor   the same header; keys; records {offset, header of Packed}; payload
//	LRCSeg    the same header; keys; records {base, b, offset}; payload
//	SegLRC    keys; records {base, line, offset}; payload
//	HSLRC     {shift, buckets, 0, 0}; records {start, base, line, offset}, one
//	          more than buckets; payload
//
// A key is the first docID of a segment (the list H of Algorithm 1). An offset is the
// start of the payload of a block, in words from the start of all payloads, which are
// contiguous. The payload has a lambda of b bits for each docID, lambda j at bit j*b,
// and zeros up to the end of a word. The bucket of x is x >> shift, and start is the
// index in the list of the first docID of a bucket. The last record is {Len, 0, 0,
// words of all payloads}. Base and line of an empty bucket are 0. An empty list has
// no words.
//
// Let i be the index in the list and j the index in the block. DocID i is, modulo
// 2^32,
//
//	LRC, LRCPFor    (int64(slope*i + intercept) >> 30) + lambda
//	LRCSeg          (int64(slope*i + intercept) >> 30) + base + lambda
//	SegLRC, HSLRC   base + (m*j << e >> 16) + lambda
//
// where m = line[0:16), e = line[16:21), and b = line[21:27) bits is the width.
// No sum wraps. As integers, too, the sums equal the docIDs, if base of SegLRC and
// HSLRC stands for the integer that lies at most 2^b - 1 below the first docID of the
// block. Let B be the width in the header of LRCSeg. Either B is 32, or base + 2^b is
// at most 2^B. LRCPFor, which has the header and payload of a segment of Packed, has no
// lambda of more than B bits. So in all three the header gives the safe range of section 4.3.
//
// Lambdas of the other codecs have no exceptions, as in Algorithm 1: exceptions would save about 1 % of the words and
// lose the access to single docIDs. On lists that resemble the GOV lists, exceptions raise the compression
// ratio of SegLRC from 3.118 to 3.178; the narrowest strip instead of regression reaches 3.141 without
// exceptions. Exhibit ao-fig7 of engine/bench measures the fraction of exceptions.
//
// Lines does not check payloads. On words that List.Validate rejects, methods return
// wrong answers but do not panic. A view shares the memory of the words and is safe
// for concurrent use while the words do not change.
type Lines struct {
	Len uint32

	codec   ID
	hashed  bool     // blocks are hash buckets
	count   int      // blocks
	key     []uint32 // first docID a segment
	rec     []uint32
	payload []uint32
	first   int     // offset of payload in the list, for errors
	shift   uint    // docID >> shift is the bucket of a docID
	line    lineRun // the line of the whole list, for LRC and LRCSeg
}

// Lines returns a view of a list of a line codec. It checks the header and that the
// tables fit. Each block is checked when it is decoded.
func (l List) Lines() (Lines, error) {
	if l.Codec.Layout() != LineLayout {
		return Lines{}, fmt.Errorf("codec: lines of a %s list", l.Codec)
	}
	v := Lines{Len: l.Len, codec: l.Codec, hashed: l.Codec.row().Hashed, count: int((uint64(l.Len) + LineSegment - 1) / LineSegment)}
	if l.Len == 0 {
		if len(l.Words) > 0 {
			return Lines{}, corrupt(l.Codec, 0, "%d words for an empty list", len(l.Words))
		}
		return v, nil
	}
	var header, keys, records int // number of words of each part
	switch l.Codec {
	case LRC:
		header, keys = globalHeader, v.count
	case LRCPFor:
		header, keys, records = globalHeader, v.count, headerWords*v.count
	case LRCSeg:
		header, keys, records = globalHeader, v.count, segmentWords*v.count
	case SegLRC:
		keys, records = v.count, segmentWords*v.count
	default:
		header = bucketHeader
		if len(l.Words) > 1 {
			v.count = int(l.Words[1])
		}
		records = bucketWords * (v.count + 1)
	}
	v.first = header + keys + records
	if len(l.Words) < v.first {
		return Lines{}, corrupt(l.Codec, len(l.Words), "ends inside its tables of %d words", v.first)
	}
	v.key = l.Words[header : header+keys]
	v.rec = l.Words[header+keys : v.first]
	v.payload = l.Words[v.first:]
	if flaw := v.readHeader(l.Words[:header]); flaw != "" {
		return Lines{}, corrupt(l.Codec, 0, "%s", flaw)
	}
	return v, nil
}

// readHeader reads the line of LRC, LRCPFor and LRCSeg and the shift of HSLRC. It returns a
// reason why no encoder writes this header, or "".
func (v *Lines) readHeader(h []uint32) string {
	switch {
	case v.hashed:
		v.shift = uint(h[0])
		n, end := uint64(v.count), v.rec[bucketWords*v.count:]
		switch {
		case v.shift > 31 || n == 0 || n > 1<<(32-v.shift) || h[2]|h[3] != 0:
			return "no such buckets"
		case end[0] != v.Len || end[1]|end[2] != 0 || uint64(end[3]) != uint64(len(v.payload)):
			return "the last record does not end the list"
		case v.rec[0] != 0 || v.Start(v.count-1) == int(v.Len):
			return "the first bucket does not start the list, or the last is empty"
		}
	case len(h) > 0:
		v.line = lineRun{
			step: uint64(h[0]) | uint64(h[1])<<32, at: int64(uint64(h[2]) | uint64(h[3])<<32),
			b: uint(h[4]), wide: uint(h[4]), n: int(v.Len), limit: math.MaxUint32,
		}
		switch {
		case !v.line.good() || h[5]|h[6]|h[7] != 0:
			return "no such line"
		case v.codec == LRC && v.line.words() != uint64(len(v.payload)):
			return "the payload has another length"
		}
	}
	return ""
}

// Blocks returns the number of segments or buckets.
func (v *Lines) Blocks() int { return v.count }

// Start returns the index in the list of the first docID of block k, 0 to Blocks. For
// an empty bucket it is the index of the next docID.
func (v *Lines) Start(k int) int {
	if v.hashed {
		return int(min(v.rec[bucketWords*k], v.Len))
	}
	return min(k*LineSegment, int(v.Len))
}

// At returns docID i of the list, counted from 0. It panics if i is not below Len.
func (v *Lines) At(i uint32) uint32 {
	if i >= v.Len {
		panic("codec: At: index out of range")
	}
	k := int(i / LineSegment)
	if v.hashed { // find the last bucket that starts at or before i
		lo, hi := 0, v.count
		for hi-lo > 1 {
			if mid := int(uint(lo+hi) / 2); v.rec[bucketWords*mid] <= i {
				lo = mid
			} else {
				hi = mid
			}
		}
		k = lo
	}
	r, err := v.run(k)
	j := int(i) - v.Start(k)
	if err != nil || j < 0 || j >= r.n {
		return 0 // the words are wrong
	}
	return r.doc(j)
}

// Find looks x up and returns its index in the list (Ao et al. 2011, Algorithm 1,
// lines 4 to 6). It finds the block by the global line and the keys, or by hash. Then
// a binary search covers the indexes that the line of the block allows for x.
func (v *Lines) Find(x uint32) (i int, found bool) {
	i, found, _ = v.find(x, v.Block(x))
	return i, found
}

// FindIn is Find for a docID whose index in the list can only be lo to hi-1, where
// 0 <= lo and hi <= Len. It returns an error if the block of x is damaged.
func (v *Lines) FindIn(x uint32, lo, hi int) (i int, found bool, err error) {
	if lo >= hi {
		return 0, false, nil
	}
	return v.find(x, v.blockIn(x, lo, hi))
}

// find looks x up in block k, which may be Blocks.
func (v *Lines) find(x uint32, k int) (i int, found bool, err error) {
	if k == v.count {
		return 0, false, nil
	}
	r, err := v.run(k)
	if err != nil {
		return 0, false, err
	}
	j, found := r.find(x)
	return v.Start(k) + j, found, nil
}

// Block returns the only block that can hold x, or Blocks if all docIDs are below x.
// The docIDs of all blocks before it are below x.
func (v *Lines) Block(x uint32) int {
	if v.hashed {
		return min(int(x>>v.shift), v.count)
	}
	if v.codec != SegLRC && v.count > 1 {
		from, to := v.line.narrow(x)
		return v.lastKey(x, from/LineSegment, min(to/LineSegment+1, v.count))
	}
	return v.lastKey(x, 0, v.count)
}

// blockIn is Block for a docID whose index in the list can only be lo to hi-1, lo < hi.
func (v *Lines) blockIn(x uint32, lo, hi int) int {
	switch {
	case v.hashed, lo == 0 && hi == int(v.Len): // the line of the list narrows the range
		return v.Block(x)
	}
	return v.lastKey(x, lo/LineSegment, (hi-1)/LineSegment+1)
}

// lastKey returns the last segment among lo to hi-1 whose key is not above x, or lo.
func (v *Lines) lastKey(x uint32, lo, hi int) int {
	for hi-lo > 1 {
		if mid := int(uint(lo+hi) / 2); v.key[mid] <= x {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// run returns the line and the payload of block k, which must be in range. It checks
// that they are well formed.
func (v *Lines) run(k int) (lineRun, error) {
	start := v.Start(k)
	r := lineRun{n: v.Start(k+1) - start, limit: math.MaxUint32}
	var off, next uint64 // where the payload lies
	record := v.first - len(v.rec)
	if k+1 < len(v.key) {
		r.limit = int64(v.key[k+1]) - 1
	}
	switch v.codec {
	case LRC:
		r.b, r.wide, r.step, r.at = v.line.b, v.line.b, v.line.step, v.line.at+int64(uint64(start)*v.line.step)
		r.floor = v.key[k]
		off = uint64(start) / 32 * uint64(r.b)
		next = off + r.words()
	case LRCPFor:
		rec := v.rec[headerWords*k:]
		record += headerWords * k
		r.floor, r.h = v.key[k], header(rec[1])
		if flaw := r.h.flaw(r.n); flaw != "" {
			return lineRun{}, corrupt(v.codec, record+1, "block %d: header %#08x: %s", k, rec[1], flaw)
		}
		r.b, r.wide, r.step, r.at = r.h.b(), r.h.b()+r.h.hb(), v.line.step, v.line.at+int64(uint64(start)*v.line.step)
		if r.wide > v.line.b {
			return lineRun{}, corrupt(v.codec, record+1, "block %d: values of more bits than the list has", k)
		}
		off, next = uint64(rec[0]), uint64(len(v.payload))
		if len(rec) > headerWords {
			next = uint64(rec[headerWords])
		}
	case LRCSeg, SegLRC:
		rec := v.rec[segmentWords*k:]
		record += segmentWords * k
		r.floor = v.key[k]
		if v.codec == SegLRC {
			r.setLine(lineRecord(rec[1]), int64(r.floor)-int64(r.floor-rec[0]))
		} else {
			if r.b, r.wide = uint(rec[1]), uint(rec[1]); v.line.b < 32 && uint64(rec[0])+1<<min(r.b, 32) > 1<<v.line.b {
				return lineRun{}, corrupt(v.codec, record, "block %d: values of more bits than the list has", k)
			}
			r.step = v.line.step
			r.at = v.line.at + int64(uint64(start)*r.step) + int64(rec[0])<<LineShift
		}
		off, next = uint64(rec[2]), uint64(len(v.payload))
		if len(rec) > segmentWords {
			next = uint64(rec[segmentWords+2])
		}
	default:
		rec := v.rec[bucketWords*k:]
		record += bucketWords * k
		r.floor = uint32(k) << v.shift
		r.limit = int64(r.floor) + 1<<v.shift - 1
		r.setLine(lineRecord(rec[2]), int64(r.floor)+int64(int32(rec[1]-r.floor)))
		off, next = uint64(rec[3]), uint64(rec[bucketWords+3])
		if r.n == 0 && off == next && rec[1]|rec[2] == 0 {
			return lineRun{}, nil
		}
	}
	if r.n <= 0 || !r.good() {
		return lineRun{}, corrupt(v.codec, record, "block %d: no such line, or no docIDs", k)
	}
	if k == 0 && off != 0 || next > uint64(len(v.payload)) || off > next || next-off != r.words() {
		return lineRun{}, corrupt(v.codec, record, "block %d: payload does not fill the room to its neighbours", k)
	}
	low := off + r.lowWords()
	r.low, r.exc, r.word = v.payload[off:low], v.payload[low:next], v.first+int(off)
	return r, nil
}

// AppendLambdas appends the lambdas of block k to dst and returns the extended slice, or
// an error and dst unchanged.
func (v *Lines) AppendLambdas(dst []uint32, k int) ([]uint32, error) {
	r, err := v.run(k)
	if err != nil || r.n == 0 {
		return dst, err
	}
	all := slices.Grow(dst, r.n)[:len(dst)+r.n]
	unpack(all[len(dst):], r.low, r.b)
	if _, flaw := r.h.patch(all[len(dst):], r.exc); flaw != "" {
		return dst, corrupt(v.codec, r.word+len(r.low), "block %d: %s", k, flaw)
	}
	return all, nil
}

// TableWords returns the number of words before the payload: header, keys and records.
func (v *Lines) TableWords() int { return v.first }

// decode appends the docIDs of block k to dst and returns the extended slice, or an
// error and dst unchanged. It grows dst only if the record allows the length of the
// block.
func (v *Lines) decode(dst []uint32, k int) ([]uint32, error) {
	r, err := v.run(k)
	if err != nil || r.n == 0 {
		return dst, err
	}
	if !zeroAbove(r.low, uint(r.n)*r.b) {
		return dst, corrupt(v.codec, r.word+len(r.low)-1, "block %d: bits behind the last value", k)
	}
	if !zeroAbove(r.exc, r.h.exceptionBits()) {
		return dst, corrupt(v.codec, r.word+len(r.low)+len(r.exc)-1, "block %d: bits behind the last exception", k)
	}
	all := slices.Grow(dst, r.n)[:len(dst)+r.n]
	out := all[len(dst):]
	if !r.decode(out) || !v.hashed && out[0] != r.floor {
		return dst, corrupt(v.codec, r.word, "block %d: bad exceptions, or docIDs do not ascend from %d to at most %d", k, r.floor, r.limit)
	}
	return all, nil
}
