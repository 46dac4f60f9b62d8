package codec

// appendLRCPFor writes one line for the list, and the lambdas of each segment as ParaPFor writes
// its gaps: in a width of the segment, with exceptions by index.
func appendLRCPFor(dst, docs []uint32, opt Options) []uint32 {
	if len(docs) == 0 {
		return dst
	}
	f := fit(docs, wholeSlope)
	dst = appendLine(dst, f)
	dst = appendKeys(dst, docs)
	rec := len(dst)
	dst = appendZeros(dst, headerWords*lineSegments(docs))
	payload := len(dst)
	var buf [LineSegment]uint32
	for s := range lineSegments(docs) {
		v := lambdas(&buf, docs, s, f)
		h := chooseWidth(v, opt)
		dst[rec], dst[rec+1] = uint32(len(dst)-payload), uint32(h)
		dst = appendSegment(dst, v, h)
		rec += headerWords
	}
	return dst
}

func sizeLRCPFor(docs []uint32, opt Options) int {
	if len(docs) == 0 {
		return 0
	}
	f := fit(docs, wholeSlope)
	words := globalHeader + (1+headerWords)*lineSegments(docs)
	var buf [LineSegment]uint32
	for s := range lineSegments(docs) {
		v := lambdas(&buf, docs, s, f)
		h := chooseWidth(v, opt)
		words += h.lowWords(len(v)) + h.exceptionWords()
	}
	return words
}

// lambdas writes the distances of segment s of docs from the line f to buf.
func lambdas(buf *[LineSegment]uint32, docs []uint32, s int, f fitted) []uint32 {
	segment := lineSegment(docs, s)
	line := uint64(s*LineSegment) * f.slope
	for j, d := range segment {
		buf[j] = d - uint32(line>>LineShift) - uint32(f.base)
		line += f.slope
	}
	return buf[:len(segment)]
}
