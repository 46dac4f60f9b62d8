package lookup

import (
	"fmt"

	"heddle/codec"
	"heddle/engine/plan"
)

// Algorithms are the algorithms that finders run, besides plan.Auto.
var Algorithms = []plan.Algorithm{
	plan.BS, plan.IS, plan.LR, plan.LRSeg, plan.LRSplit, plan.HS8, plan.HS16, plan.HS32, plan.HS64, plan.HS128, plan.HS256,
	plan.PMF0, plan.PMF1, plan.PMF2, plan.PMF3, plan.PMF4,
	plan.MergePath, plan.Bits, plan.Gallop, plan.SvS, plan.SkipList, plan.SegStep, plan.BSLoop,
}

// finder is an algorithm with its table for one list.
type finder struct {
	algorithm plan.Algorithm // BS for algorithms that only add a table
	line      *codec.Line
	local     narrower
	bucket    *Buckets
	skips     skips
	step      int
	at        int // start of the next sequential search: all docIDs before are below the next candidate
}

// open prepares f for algorithm a on list h and about the given number of candidates, and
// builds the table of a. In a compressed list, binary search stands for algorithms that step
// from docID to docID, and a list of a line codec has its own line or hash instead of a table.
func (f *finder) open(aux *Auxiliary, a plan.Algorithm, h plan.Handle, candidates int) (err error) {
	*f = finder{algorithm: a}
	n, id := int(aux.Source.Lists[h].Len), aux.Source.Lists[h].Codec
	switch {
	case n == 0:
	case id != codec.Raw && (a == plan.SkipList || a == plan.SegStep || a == plan.SvS || a == plan.BSLoop):
		f.algorithm = plan.BS
	case hashed(id), a == plan.LR && (id == codec.LRC || id == codec.LRCPFor || id == codec.LRCSeg):
	case a == plan.LR:
		f.line, err = aux.line(h)
	case a == plan.LRSeg:
		f.local, err = aux.local(h)
	case a == plan.LRSplit:
		f.local, err = aux.split(h)
	case a == plan.SkipList:
		f.skips, err = aux.skips(h)
	case a == plan.SegStep:
		f.step = segStep(n, candidates)
	case a.Bucket() != 0 && a != plan.Bits:
		f.bucket, err = aux.bucket(h, a)
	}
	return err
}

// filter copies the candidates that docs, the whole list, contains to the front of dst and
// returns their number. dst is at least as long as cand and may be cand.
func (f *finder) filter(dst, cand, docs []uint32) int {
	switch {
	case f.line != nil:
		return filterLine(dst, cand, docs, f.line)
	case f.local != nil:
		return filterLocal(dst, cand, docs, f.local)
	case f.bucket != nil:
		return filterBuckets(dst, cand, docs, f.bucket)
	}
	if levels, ok := f.algorithm.Levels(); ok {
		return filterPMF(dst, cand, docs, levels)
	}
	n := 0
	switch f.algorithm {
	case plan.IS:
		return filterInterpolation(dst, cand, docs)
	case plan.MergePath:
		n, f.at = filterMerge(dst, cand, docs, f.at)
	case plan.Gallop:
		n, f.at = filterGallop(dst, cand, docs, f.at)
	case plan.SvS:
		n, f.at = filterRest(dst, cand, docs, f.at)
	case plan.SkipList:
		n, f.at = filterSkips(dst, cand, docs, f.skips, f.at)
	case plan.SegStep:
		n, f.at = filterSteps(dst, cand, docs, f.step, f.at)
	case plan.BSLoop:
		return filterLoop(dst, cand, docs)
	default:
		return filterBinary(dst, cand, docs)
	}
	return n
}

// inBlock is filter for docs that are one block of the list. Tables do not apply to it, and
// dst may overlap cand at an earlier position.
func (f *finder) inBlock(dst, cand, docs []uint32) int {
	n := 0
	switch levels, ok := f.algorithm.Levels(); {
	case ok:
		return filterPMF(dst, cand, docs, levels)
	case f.algorithm == plan.IS:
		return filterInterpolation(dst, cand, docs)
	case f.algorithm == plan.MergePath:
		n, f.at = mergeOne(dst, cand, docs, f.at)
		return n
	case f.algorithm == plan.Gallop:
		n, f.at = filterGallop(dst, cand, docs, f.at)
		return n
	}
	return filterBinary(dst, cand, docs)
}

// hashed reports whether lists of a codec are divided by hash.
func hashed(id codec.ID) bool { return id.Describe().Hashed }

// random reports whether f looks up each candidate by itself, by binary search.
func (f *finder) random() bool {
	a := f.algorithm
	return a == plan.BS || a == plan.LR || a == plan.LRSeg || a == plan.LRSplit || a == plan.Bits || a.Bucket() != 0
}

// narrows reports whether f has a table for narrow.
func (f *finder) narrows() bool { return f.line != nil || f.local != nil || f.bucket != nil }

// narrow returns the range of indexes that contains x if the list of n docIDs does.
func (f *finder) narrow(x, n uint32) (lo, hi uint32) {
	switch {
	case f.line != nil:
		return f.line.Range(x, n)
	case f.local != nil:
		return f.local.find(x, n)
	case f.bucket != nil:
		return f.bucket.Find(x)
	}
	return 0, n
}

// describe names the search of f in where, a list of n docIDs.
func (f *finder) describe(n uint32, where string) string {
	switch {
	case f.line != nil:
		return fmt.Sprintf("lr: safe range of %d in %s", f.line.Left+f.line.Right+1, where)
	case f.local != nil:
		return fmt.Sprintf("%v: safe ranges of %.1f in %s", f.algorithm, f.local.mean(), where)
	case f.bucket != nil:
		return fmt.Sprintf("hs: buckets of %.1f in %s", float64(n)/float64(max(len(f.bucket.First)-1, 1)), where)
	case f.skips != nil:
		return fmt.Sprintf("skiplist: %d levels over %s", len(f.skips), where)
	case f.step > 0:
		return fmt.Sprintf("segstep: steps of %d in %s", f.step, where)
	}
	return fmt.Sprintf("%v: %d in %s", f.algorithm, n, where)
}

// describeBlocks names the search of f in the blocks of a compressed list of n docIDs.
func (f *finder) describeBlocks(n uint32, b *blocks) string {
	where := fmt.Sprintf("%d blocks", b.view.Count())
	text := f.describe(n, where)
	switch {
	case f.narrows():
		text += ", then bs in a block"
	case b.hashed && f.random():
		text = "the hash of the list in " + where
	case f.algorithm == plan.LR:
		text = "the line of the list in " + where
	case f.algorithm != plan.BS:
		text = fmt.Sprintf("bs in %s, then %v in a block", where, f.algorithm)
	}
	if b.lines != nil && f.random() {
		text += fmt.Sprintf("; single docIDs below a candidate in %d blocks", blocksPerProbe)
	}
	return text
}
