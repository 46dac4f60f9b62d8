package wah

// Builder makes a vector from its ones in ascending order. The zero value is an empty
// vector.
type Builder[W Word] struct {
	words []W
	group uint64 // the number of the current group
	bits  W      // the bits of the current group
}

// Add sets bit row, which must not be below the row added before.
func (b *Builder[W]) Add(row uint64) {
	g := GroupBits[W]()
	b.reach(row / g)
	b.bits |= 1 << (row % g)
}

// AddRun sets bits from to to-1, none of them below the row added before.
func (b *Builder[W]) AddRun(from, to uint64) {
	g := GroupBits[W]()
	for from < to {
		b.reach(from / g)
		if n := (to - from) / g; from%g == 0 && n > 0 {
			b.fill(Ones[W](), n)
			from += n * g
			continue
		}
		n := min(to-from, g-from%g)
		b.bits |= (1<<n - 1) << (from % g)
		from += n
	}
}

// reach writes the groups before group.
func (b *Builder[W]) reach(group uint64) {
	if group != b.group {
		b.close()
		if n := group - b.group; n > 0 {
			b.fill(0, n)
		}
	}
}

// close writes the current group.
func (b *Builder[W]) close() {
	switch b.bits {
	case 0:
		b.fill(0, 1)
		return
	case Ones[W]():
		b.fill(b.bits, 1)
		return
	}
	b.words = append(b.words, b.bits)
	b.group, b.bits = b.group+1, 0
}

// fill writes n groups of zeros or of ones, the current group first.
func (b *Builder[W]) fill(group W, n uint64) {
	b.group, b.bits = b.group+n, 0
	b.words = appendFill(b.words, 0, group, n)
}

// appendFill appends n groups of zeros or of ones to the vector that begins at word
// start.
func appendFill[W Word](words []W, start int, group W, n uint64) []W {
	head := flag[W]() | group&value[W]()
	if k := len(words); k > start && words[k-1]&(flag[W]()|value[W]()) == head {
		_, before := FillOf(words[k-1])
		more := min(n, MaxFill[W]()-before)
		words[k-1] += W(more)
		n -= more
	}
	for n > 0 {
		k := min(n, MaxFill[W]())
		words = append(words, head|W(k))
		n -= k
	}
	return words
}

// Words returns the number of words that have been written.
func (b *Builder[W]) Words() int { return len(b.words) }

// AppendTo ends the vector at bits bits, which must be above all added rows, appends its
// words to dst and returns the extended slice. It empties the builder and keeps its
// memory.
func (b *Builder[W]) AppendTo(dst []W, bits uint64) []W {
	if groups := Groups[W](bits); b.group < groups {
		b.close()
		if b.group < groups {
			b.fill(0, groups-b.group)
		}
	}
	dst = append(dst, b.words...)
	*b = Builder[W]{words: b.words[:0]}
	return dst
}
