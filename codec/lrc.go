package codec

import "math/bits"

// appendLRC writes one line for the list and all lambdas in one width.
func appendLRC(dst, docs []uint32) []uint32 {
	if len(docs) == 0 {
		return dst
	}
	f := fit(docs, wholeSlope)
	dst = appendLine(dst, f)
	dst = appendKeys(dst, docs)
	return appendLambdas(dst, docs, 0, f)
}

func sizeLRC(docs []uint32) int {
	if len(docs) == 0 {
		return 0
	}
	return globalHeader + lineSegments(docs) + lambdaWords(len(docs), fit(docs, wholeSlope).b)
}

// appendLine writes the header of LRC and LRCSeg.
func appendLine(dst []uint32, f fitted) []uint32 {
	intercept := uint64(f.base) << LineShift
	return append(dst, uint32(f.slope), uint32(f.slope>>32), uint32(intercept), uint32(intercept>>32), uint32(f.b), 0, 0, 0)
}

// appendKeys writes the first docID of every segment.
func appendKeys(dst, docs []uint32) []uint32 {
	for i := 0; i < len(docs); i += LineSegment {
		dst = append(dst, docs[i])
	}
	return dst
}

// lineSegments returns the number of segments of docs.
func lineSegments(docs []uint32) int { return (len(docs) + LineSegment - 1) / LineSegment }

// lineSegment returns segment s of docs.
func lineSegment(docs []uint32, s int) []uint32 {
	return docs[s*LineSegment : min((s+1)*LineSegment, len(docs))]
}

// lambdaWords returns the length of a payload.
func lambdaWords(n int, b uint) int { return int((uint64(n)*uint64(b) + 31) / 32) }

// appendLambdas writes the distances of docs from the line f, with docs[0] at index
// first of the line.
func appendLambdas(dst, docs []uint32, first int, f fitted) []uint32 {
	at := len(dst)
	dst = appendZeros(dst, lambdaWords(len(docs), f.b))
	w := bitWriter{dst: dst[at:]}
	line := uint64(first) * f.slope
	for _, d := range docs {
		w.put(d-uint32(line>>LineShift)-uint32(f.base), f.b)
		line += f.slope
	}
	w.flush()
	return dst
}

// appendLRCSeg writes one line for the list, and a base and a width for each segment.
func appendLRCSeg(dst, docs []uint32) []uint32 {
	if len(docs) == 0 {
		return dst
	}
	f := fit(docs, wholeSlope)
	header := len(dst)
	dst = appendLine(dst, f)
	dst = appendKeys(dst, docs)
	rec := len(dst)
	dst = appendZeros(dst, segmentWords*lineSegments(docs))
	payload := len(dst)
	width := 0
	for s := range lineSegments(docs) {
		local := localWidth(docs, s, f)
		base := uint32(local.base - f.base)
		copy(dst[rec:], []uint32{base, uint32(local.b), uint32(len(dst) - payload)})
		dst = appendLambdas(dst, lineSegment(docs, s), s*LineSegment, local)
		width = max(width, bits.Len64(uint64(base)+1<<local.b-1))
		rec += segmentWords
	}
	dst[header+4] = uint32(min(width, 32))
	return dst
}

func sizeLRCSeg(docs []uint32) int {
	if len(docs) == 0 {
		return 0
	}
	f := fit(docs, wholeSlope)
	words := globalHeader + (1+segmentWords)*lineSegments(docs)
	for s := range lineSegments(docs) {
		words += lambdaWords(len(lineSegment(docs, s)), localWidth(docs, s, f).b)
	}
	return words
}

// localWidth returns the line f moved up to the lowest lambda of segment s.
func localWidth(docs []uint32, s int, f fitted) fitted {
	first := uint64(s*LineSegment) * f.slope
	lo, hi := deviations(lineSegment(docs, s), first, f.slope)
	return fitted{f.slope, lo, uint(bits.Len64(uint64(hi - lo)))}
}

// appendSegLRC writes a line a segment.
func appendSegLRC(dst, docs []uint32) []uint32 {
	dst = appendKeys(dst, docs)
	rec := len(dst)
	dst = appendZeros(dst, segmentWords*lineSegments(docs))
	payload := len(dst)
	for s := range lineSegments(docs) {
		f := fit(lineSegment(docs, s), roundSlope)
		copy(dst[rec:], []uint32{uint32(f.base), uint32(makeLineRecord(f)), uint32(len(dst) - payload)})
		dst = appendLambdas(dst, lineSegment(docs, s), 0, f)
		rec += segmentWords
	}
	return dst
}

func sizeSegLRC(docs []uint32) int {
	words := (1 + segmentWords) * lineSegments(docs)
	for s := range lineSegments(docs) {
		seg := lineSegment(docs, s)
		words += lambdaWords(len(seg), fit(seg, roundSlope).b)
	}
	return words
}
