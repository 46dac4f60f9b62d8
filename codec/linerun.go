package codec

import "math/bits"

// lineRun is a block of docIDs along a line: docID j, 0 to n-1, is
// (at + j*step) >> LineShift + lambda j, an integer that does not wrap.
type lineRun struct {
	at   int64  // the line at docID 0, times 2^LineShift
	step uint64 // its slope, times 2^LineShift
	b    uint   // bits of a lambda in low
	wide uint   // bits of the largest lambda, b but for exceptions
	n    int
	low  []uint32 // the lambdas, exactly their words
	h    header   // of the exceptions, 0 for none
	exc  []uint32 // the exceptions, exactly their words

	floor uint32 // the first docID, or the least docID of a bucket
	limit int64  // the largest possible docID
	word  int    // offset of low in the words of the list, for errors
}

// setLine sets slope and width from a record; base is the line at docID 0. A record
// that no encoder writes makes good return false.
func (r *lineRun) setLine(rec lineRecord, base int64) {
	if rec.good() {
		r.at, r.step, r.b, r.wide = base<<LineShift, rec.slope(), rec.b(), rec.b()
	}
}

// lowWords returns the length of the lambdas in the payload, words the length of the payload.
func (r *lineRun) lowWords() uint64 { return (uint64(r.n)*uint64(r.b) + 31) / 32 }
func (r *lineRun) words() uint64    { return r.lowWords() + uint64(r.h.exceptionWords()) }

// good tells whether an encoder can write this line, for n > 0. The slope is at least
// one, the first docID at least floor, and the line at most limit at the last docID,
// which it does not exceed. Then no docID wraps, and n docIDs of no bits fit.
func (r *lineRun) good() bool {
	top := r.limit<<LineShift + (1<<LineShift - 1)
	if r.wide > 32 || r.step < unitSlope || r.at < -1<<(32+LineShift) || r.at > top || r.at>>LineShift+1<<r.wide <= int64(r.floor) {
		return false
	}
	hi, rise := bits.Mul64(r.step, uint64(r.n-1))
	return hi == 0 && rise <= uint64(top-r.at)
}

// doc returns docID j.
func (r *lineRun) doc(j int) uint32 {
	d := uint32((r.at+int64(uint64(j)*r.step))>>LineShift) + bitsAt(r.low, uint(j)*r.b, r.b)
	if len(r.exc) > 0 {
		d += r.h.above(r.exc, uint(j))
	}
	return d
}

// decode writes the n docIDs to dst. It tells whether the exceptions are good, and the docIDs
// ascend strictly between floor and limit.
func (r *lineRun) decode(dst []uint32) bool {
	n := 0
	ascends, before := ^uint64(0), uint64(r.floor)-1
	if len(r.exc) == 0 {
		n = len(dst) / 32 * 32
		ascends, before = liftBlocks(dst, r.low, r.b, uint64(r.at), r.step, before)
	}
	at, rest := r.at+int64(uint64(n)*r.step), dst[n:]
	unpack(rest, r.low[n/32*int(r.b):], r.b)
	if _, flaw := r.h.patch(rest, r.exc); flaw != "" {
		return false
	}
	for j, lambda := range rest {
		d := uint64(at>>LineShift) + uint64(lambda)
		at += int64(r.step)
		ascends &= before - d
		before = d
		rest[j] = uint32(d)
	}
	return int64(ascends) < 0 && int64(before) <= r.limit
}

// narrow returns the only indexes, lo to hi-1 within 0 to n, where x can be. They
// follow from x - 2^wide < f(j) <= x, because lambda has so many bits. For 32 lo is 0,
// because 32 in the header of LRCSeg stands for 32 or more bits.
func (r *lineRun) narrow(x uint32) (lo, hi int) {
	top := int64(x)<<LineShift + (1<<LineShift - 1) - r.at
	if top < 0 {
		return 0, 0
	}
	hi = int(min(uint64(top)/r.step+1, uint64(r.n)))
	if bottom := (int64(x)+1-1<<r.wide)<<LineShift - r.at; bottom > 0 && r.wide < 32 {
		lo = int(min((uint64(bottom)+r.step-1)/r.step, uint64(hi)))
	}
	return lo, hi
}

// find looks x up by a binary search in the range of narrow.
func (r *lineRun) find(x uint32) (j int, found bool) {
	if r.n == 0 {
		return 0, false
	}
	lo, end := r.narrow(x)
	for hi := end; lo < hi; {
		if mid := int(uint(lo+hi) / 2); r.doc(mid) < x {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < end && r.doc(lo) == x
}
