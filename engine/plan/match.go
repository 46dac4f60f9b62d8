package plan

import (
	"fmt"
	"slices"
)

// MatchBatch is a sequence of boolean queries over the lists of one Source. A
// query is a conjunction (Handles) or a boolean expression (Ops), the other
// slice is empty for it. The slices are reused from batch to batch, so a steady
// state allocates nothing. A MatchBatch must not change while a Store runs it.
type MatchBatch struct {
	// Algorithm of the conjunctions. Expressions have one algorithm on each backend.
	Algorithm Algorithm
	// CountOnly asks for counts without docIDs.
	CountOnly bool
	// Part assigns each conjunction to one work-group or one goroutine, which walks
	// its shortest list alone (PART, Wu et al. 2010, section IV). The default divides
	// the elements of all shortest lists evenly (PARA).
	Part bool
	// Filters restrict the queries: one filter per query, nil for none. The default,
	// no filters at all, restricts nothing.
	Filters []Filter
	// Threads is the most goroutines that pure Go takes for the batch; 0: the number of its
	// options. Devices ignore it.
	Threads int

	// Offsets has one entry more than there are queries: the lists of conjunction i
	// are Handles[Offsets[i]:Offsets[i+1]], ascending by (length, handle), without
	// duplicates. A query without lists and operations matches nothing.
	Offsets []uint32
	Handles []Handle

	// OpOffsets is empty in a batch of conjunctions. In other batches it is parallel to
	// Offsets: expression i is Ops[OpOffsets[i]:OpOffsets[i+1]], in postfix order.
	OpOffsets []uint32
	Ops       []Op
}

// MatchKind tells which kinds of queries a MatchBatch holds.
type MatchKind uint8

const (
	Conjunctions MatchKind = iota // no boolean expression
	Expressions                   // no conjunction
	Mixed                         // both
)

// Reset empties the batch and keeps its memory.
func (b *MatchBatch) Reset() {
	b.Offsets = append(b.Offsets[:0], 0)
	b.Handles = b.Handles[:0]
	b.OpOffsets = b.OpOffsets[:0]
	b.Ops = b.Ops[:0]
	b.Filters = b.Filters[:0]
}

// Queries is the number of queries added since Reset.
func (b *MatchBatch) Queries() int { return max(len(b.Offsets)-1, 0) }

// Kind tells which kinds of queries the batch holds.
func (b *MatchBatch) Kind() MatchKind {
	switch {
	case len(b.Ops) == 0:
		return Conjunctions
	case len(b.Handles) == 0:
		return Expressions
	}
	return Mixed
}

// Query returns the lists of conjunction i, shortest first.
func (b *MatchBatch) Query(i int) []Handle { return b.Handles[b.Offsets[i]:b.Offsets[i+1]] }

// Expression returns the operations of expression i.
func (b *MatchBatch) Expression(i int) []Op {
	if len(b.OpOffsets) == 0 {
		return nil
	}
	return b.Ops[b.OpOffsets[i]:b.OpOffsets[i+1]]
}

// Add appends a conjunction of lists of src. It orders them by ascending length,
// ties by handle, and removes duplicates. A query without handles matches
// nothing, which expresses an unknown term.
func (b *MatchBatch) Add(src *Source, handles ...Handle) {
	b.begin()
	for _, h := range handles {
		src.Describe(h)
	}
	b.Handles = append(b.Handles, handles...)
	b.order(src)
	b.end()
}

// AddOrdered appends a conjunction of lists that are in order, without duplicates.
func (b *MatchBatch) AddOrdered(handles []Handle) {
	b.begin()
	b.Handles = append(b.Handles, handles...)
	b.end()
}

// AddExpr appends a boolean expression over lists of src. It simplifies the
// expression, adds a conjunction where possible, and orders the operands of an
// expression so that few sets exist at a time. The error names the limit where
// the expression needs more sets than MaxDepth; the batch is unchanged then.
func (b *MatchBatch) AddExpr(src *Source, e Expr) error {
	if e.need == 0 {
		e = e.Simplify(src)
	}
	if e.need > MaxDepth {
		return fmt.Errorf("plan: an expression that needs %d sets at a time, at most %d are possible", e.need, MaxDepth)
	}
	b.begin()
	if handles, ok := e.Conjunction(b.Handles); ok {
		b.Handles = handles
		b.order(src)
	} else {
		b.beginOps()
		b.Ops = e.appendOps(b.Ops)
	}
	b.end()
	return nil
}

// AddOps appends an expression in postfix order.
func (b *MatchBatch) AddOps(ops []Op) {
	b.begin()
	b.beginOps()
	b.Ops = append(b.Ops, ops...)
	b.end()
}

// Append appends query i of another batch over the same source, with its filter.
func (b *MatchBatch) Append(from *MatchBatch, i int) {
	if ops := from.Expression(i); len(ops) > 0 {
		b.AddOps(ops)
	} else {
		b.AddOrdered(from.Query(i))
	}
	b.Restrict(from.Filter(i))
}

// Restrict makes f the filter of the last query; nil is none.
func (b *MatchBatch) Restrict(f Filter) { b.Filters = restrict(b.Filters, b.Queries(), f) }

// Filter returns the filter of query i, nil if it has none.
func (b *MatchBatch) Filter(i int) Filter { return filterOf(b.Filters, i) }

// AppendOps appends query i as an expression to dst.
func (b *MatchBatch) AppendOps(dst []Op, i int) []Op {
	for n, list := range b.Query(i) {
		if dst = append(dst, Op{Code: OpList, List: list}); n > 0 {
			dst = append(dst, Op{Code: OpAnd})
		}
	}
	return append(dst, b.Expression(i)...)
}

func (b *MatchBatch) begin() {
	if len(b.Offsets) == 0 {
		b.Offsets = append(b.Offsets, 0)
	}
}

// beginOps makes OpOffsets parallel to Offsets before the first expression.
func (b *MatchBatch) beginOps() {
	if len(b.OpOffsets) == 0 {
		b.OpOffsets = slices.Grow(b.OpOffsets, len(b.Offsets))[:len(b.Offsets)]
		clear(b.OpOffsets)
	}
}

func (b *MatchBatch) end() {
	b.Offsets = append(b.Offsets, uint32(len(b.Handles)))
	if len(b.OpOffsets) > 0 {
		b.OpOffsets = append(b.OpOffsets, uint32(len(b.Ops)))
	}
	b.Restrict(nil)
}

// order sorts the handles after the last offset and removes duplicates.
func (b *MatchBatch) order(src *Source) {
	start := b.Offsets[len(b.Offsets)-1]
	q := b.Handles[start:]
	var keys [12]uint64
	if len(q) <= len(keys) { // insertion sort: most queries, and no cost of a closure call
		for i, h := range q {
			key, j := lengthKey(src.Lists, h), i
			for ; j > 0 && keys[j-1] > key; j-- {
				keys[j] = keys[j-1]
			}
			keys[j] = key
		}
		for i := range q {
			q[i] = Handle(keys[i])
		}
	} else {
		slices.SortFunc(q, func(x, y Handle) int { return ByLength(src, x, y) })
	}
	b.Handles = b.Handles[:int(start)+len(slices.Compact(q))]
}

// AppendLists appends the lists of query i to dst, as often as the query names them.
func (b *MatchBatch) AppendLists(dst []Handle, i int) []Handle {
	dst = append(dst, b.Query(i)...)
	for _, op := range b.Expression(i) {
		if op.Code == OpList {
			dst = append(dst, op.List)
		}
	}
	return dst
}

// Load is the number of docIDs that query i reads: the length of the shortest list
// of a conjunction, or the sum of the lengths of all lists of an expression.
func (b *MatchBatch) Load(src *Source, i int) (n uint64) {
	if q := b.Query(i); len(q) > 0 {
		return uint64(src.Lists[q[0]].Len)
	}
	for _, op := range b.Expression(i) {
		if op.Code == OpList {
			n += uint64(src.Lists[op.List].Len)
		}
	}
	return n
}

// Candidates is the sum of Load over all queries: the computational load of a
// batch (Wu et al. 2010, section IV).
func (b *MatchBatch) Candidates(src *Source) (n uint64) {
	if len(b.Ops) == 0 { // batches of very short lists take as long to count as to answer
		for i, end := range b.Offsets[min(1, len(b.Offsets)):] {
			if at := b.Offsets[i]; at < end {
				n += uint64(src.Lists[b.Handles[at]].Len)
			}
		}
		return n
	}
	for i := range b.Queries() {
		n += b.Load(src, i)
	}
	return n
}

// Validate checks the batch against src: offsets, handles, order of lists, and
// the height of the stack of every expression.
func (b *MatchBatch) Validate(src *Source) error {
	if err := b.CheckShape(); err != nil {
		return err
	}
	_, err := b.Check(src, 0, b.Queries())
	return err
}

// CheckShape checks that the slices of the batch have matching lengths and offsets. Check checks the queries.
func (b *MatchBatch) CheckShape() error {
	if n := len(b.Filters); n > 0 && n != b.Queries() {
		return fmt.Errorf("plan: %d filters for %d queries", n, b.Queries())
	}
	if len(b.Offsets) == 0 {
		return nil
	}
	if b.Offsets[0] != 0 || int(b.Offsets[len(b.Offsets)-1]) != len(b.Handles) {
		return fmt.Errorf("plan: batch offsets do not cover its %d handles", len(b.Handles))
	}
	return b.checkOpShape()
}

// Check checks the queries from first to end-1 against src and returns the sum of their
// loads. The shape of the batch and the queries before first are valid.
func (b *MatchBatch) Check(src *Source, first, end int) (candidates uint64, err error) {
	if first == end {
		return 0, nil
	}
	at, lists, lazy := b.Offsets[first], src.Lists, src.Lazy != nil
	for i, end := range b.Offsets[first+1 : end+1] {
		if at > end || int(end) > len(b.Handles) {
			return 0, fmt.Errorf("plan: offsets of query %d do not ascend", first+i)
		}
		next := uint64(0) // the least length and handle that may follow, in one number: its comparison is easy to predict
		for _, h := range b.Handles[at:end] {
			if uint64(h) >= uint64(len(lists)) {
				return 0, fmt.Errorf("plan: query %d names list %d of %d", first+i, h, len(lists))
			}
			if lazy {
				src.Lazy.Describe(h)
			}
			this := lengthKey(lists, h)
			if this < next {
				return 0, fmt.Errorf("plan: lists of query %d are not in ascending order of length", first+i)
			}
			next = this + 1
		}
		if at < end {
			candidates += uint64(lists[b.Handles[at]].Len)
		}
		at = end
	}
	more, err := b.checkOps(src, first, end)
	return candidates + more, err
}
