package plan

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Mode is the condition under which a document matches a ranked query.
type Mode uint8

const (
	Or  Mode = iota // it contains at least one term
	And             // it contains every term
)

func (m Mode) String() string {
	if m == And {
		return "and"
	}
	return "or"
}

// Accumulators is the place where a ranked OR adds up scores.
type Accumulators uint8

const (
	// AutoAccumulators, the default, leave the choice to the backend.
	AutoAccumulators Accumulators = iota
	// RangeAccumulators hold one range of documents in fast memory while all lists of a
	// query pass by.
	RangeAccumulators
	// GlobalAccumulators have one place a document, and one list at a time is added
	// to them: Ding et al. 2009, section 8.3. It is the baseline.
	GlobalAccumulators
	// BlockAccumulators hold the blocks of documents that can have one of the best, in descending order of
	// the upper bounds of their scores: block-max pruning, Mallia et al. 2024. They need
	// impacts of 8 bits. Other queries, and devices, take RangeAccumulators.
	BlockAccumulators
)

var accumulatorNames = [...]string{AutoAccumulators: "auto", RangeAccumulators: "ranges", GlobalAccumulators: "global", BlockAccumulators: "blocks"}

// ParseAccumulators returns the place of a name of the command line: auto, ranges, global or blocks.
func ParseAccumulators(name string) (Accumulators, error) {
	for a, n := range accumulatorNames {
		if n == name {
			return Accumulators(a), nil
		}
	}
	return 0, fmt.Errorf("unknown accumulators %q (one of auto, ranges, global, blocks)", name[:min(len(name), 100)])
}

// Validate returns an error for a value that is no place of accumulators.
func (a Accumulators) Validate() error {
	if a > BlockAccumulators {
		return fmt.Errorf("unknown accumulators %d (one of 0 to %d)", a, BlockAccumulators)
	}
	return nil
}

// MaxK is the greatest number of documents that a ranked query may ask for.
const MaxK = 10000

// Term is a list of a ranked query. Weight is an upper bound of the contribution of the list to
// the score of a document, in units of the score; it is at least 1.
type Term struct {
	List   Handle
	Weight uint32
}

// RankBatch is a batch of ranked queries over the lists of one Source, which must
// have frequencies and document lengths, or impacts. Its slices are reused from
// batch to batch, so a steady state allocates nothing. It must not be changed
// while a Store runs it.
//
// Scores are integers, so that every backend gives the same ones whatever the
// order of its additions: a document's score is the sum of Contribution over the
// lists of the query that have it.
type RankBatch struct {
	Mode         Mode
	K            int // documents a query, 1 to MaxK
	Norm         Norm
	Accumulators Accumulators
	// Filters restrict the queries: one filter per query, nil for none. The default,
	// no filters at all, restricts nothing.
	Filters []Filter
	// Threads is the most goroutines that pure Go takes for the batch; 0: the number of its
	// options. Devices ignore it.
	Threads int

	// Offsets has one entry a query and one more: the terms of query i are
	// Terms[Offsets[i]:Offsets[i+1]], ascending by (length of list, handle),
	// without duplicates, with weights that add up to less than 2^32. A query
	// without terms matches nothing.
	Offsets []uint32
	Terms   []Term
}

// Reset empties the batch and keeps its memory.
func (r *RankBatch) Reset() {
	r.Offsets = append(r.Offsets[:0], 0)
	r.Terms = r.Terms[:0]
	r.Filters = r.Filters[:0]
}

// Queries is the number of queries added since Reset.
func (r *RankBatch) Queries() int { return max(len(r.Offsets)-1, 0) }

// Query returns the terms of query i, the term of the shortest list first.
func (r *RankBatch) Query(i int) []Term { return r.Terms[r.Offsets[i]:r.Offsets[i+1]] }

// Add appends a query over lists of src. It orders the terms and joins terms of the
// same list by adding their weights. A query without terms matches nothing.
func (r *RankBatch) Add(src *Source, terms ...Term) {
	if len(r.Offsets) == 0 {
		r.Offsets = append(r.Offsets, 0)
	}
	start := len(r.Terms)
	r.Terms = append(r.Terms, terms...)
	q := r.Terms[start:]
	for _, t := range q {
		src.Describe(t.List)
	}
	slices.SortFunc(q, func(x, y Term) int { return ByLength(src, x.List, y.List) })
	n := 0
	for _, t := range q {
		if n > 0 && q[n-1].List == t.List {
			q[n-1].Weight = uint32(min(uint64(q[n-1].Weight)+uint64(t.Weight), math.MaxUint32))
			continue
		}
		q[n] = t
		n++
	}
	r.Terms = r.Terms[:start+n]
	r.Offsets = append(r.Offsets, uint32(len(r.Terms)))
	r.Restrict(nil)
}

// AddOrdered appends a query as Query gives it.
func (r *RankBatch) AddOrdered(q []Term) {
	r.Terms = append(r.Terms, q...)
	r.Offsets = append(r.Offsets, uint32(len(r.Terms)))
	r.Restrict(nil)
}

// Restrict makes f the filter of the last query; nil is none.
func (r *RankBatch) Restrict(f Filter) { r.Filters = restrict(r.Filters, r.Queries(), f) }

// Filter returns the filter of query i, nil if it has none.
func (r *RankBatch) Filter(i int) Filter { return filterOf(r.Filters, i) }

// AppendLists appends the lists of query i to dst.
func (r *RankBatch) AppendLists(dst []Handle, i int) []Handle {
	for _, t := range r.Query(i) {
		dst = append(dst, t.List)
	}
	return dst
}

// ByLength orders lists as queries have them: by ascending length, ties by handle.
func ByLength(src *Source, x, y Handle) int {
	return cmp.Compare(lengthKey(src.Lists, x), lengthKey(src.Lists, y))
}

// lengthKey returns a number that orders lists as ByLength does. Its lower half is the handle.
func lengthKey(lists []List, h Handle) uint64 { return uint64(lists[h].Len)<<32 | uint64(h) }

// Postings is the number of postings of all lists that the queries name, as often
// as they name them.
func (r *RankBatch) Postings(src *Source) (n uint64) {
	for _, t := range r.Terms {
		n += uint64(src.Lists[t.List].Len)
	}
	return n
}

// Validate checks the batch against src: the rules of the fields of RankBatch, and
// the data that ranking needs.
func (r *RankBatch) Validate(src *Source) error {
	if err := src.ranked(r.Norm); err != nil {
		return err
	}
	if r.K < 1 || r.K > MaxK {
		return fmt.Errorf("plan: the best %d documents were asked for, possible are 1 to %d", r.K, MaxK)
	}
	if n := len(r.Filters); n > 0 && n != r.Queries() {
		return fmt.Errorf("plan: %d filters for %d ranked queries", n, r.Queries())
	}
	if r.Mode > And || r.Accumulators > BlockAccumulators {
		return fmt.Errorf("plan: mode %d, accumulators %d", r.Mode, r.Accumulators)
	}
	if len(r.Offsets) == 0 {
		return nil
	}
	if r.Offsets[0] != 0 || int(r.Offsets[len(r.Offsets)-1]) != len(r.Terms) {
		return fmt.Errorf("plan: offsets of ranked queries do not cover their %d terms", len(r.Terms))
	}
	for i := range r.Queries() {
		if r.Offsets[i] > r.Offsets[i+1] || int(r.Offsets[i+1]) > len(r.Terms) {
			return fmt.Errorf("plan: offsets of ranked query %d do not ascend", i)
		}
		total := uint64(0)
		q := r.Query(i)
		for j, t := range q {
			if uint64(t.List) >= uint64(len(src.Lists)) {
				return fmt.Errorf("plan: ranked query %d names list %d of %d", i, t.List, len(src.Lists))
			}
			src.Describe(t.List)
			switch {
			case t.Weight == 0:
				return fmt.Errorf("plan: term %d of ranked query %d has no weight", j, i)
			case j > 0 && ByLength(src, q[j-1].List, t.List) >= 0:
				return fmt.Errorf("plan: lists of ranked query %d are not in ascending order of length", i)
			}
			total += uint64(t.Weight)
		}
		if total > math.MaxUint32 {
			return fmt.Errorf("plan: weights of ranked query %d add up to %d, more than 2^32-1", i, total)
		}
	}
	return nil
}

// Norm computes the term-frequency component of a score as a fraction of 2^32, in
// integer arithmetic. With frequencies it is BM25's
// f / (f + k1 (1 - b + b l / avg)). With impacts of n bits it is impact / 2^n.
type Norm struct {
	Impacts uint8  // bits of an impact, as in the Source: 8, 16, or 0 for frequencies
	Base    uint32 // k1 (1 - b), in units of 2^-24
	Slope   uint32 // k1 b / avg, in units of 2^-(24+Shift); avg is the mean document length, in tokens
	Shift   uint8  // below 64
}

// normBits is the number of fractional bits of the length normaliser.
const normBits = 24

// NewNorm is the Norm for parameters k1 (0 to 255) and b (0 to 1) and a positive
// average length of documents.
func NewNorm(k1, b, average float64) Norm {
	n := Norm{Base: fixed(k1 * (1 - b) * (1 << normBits))}
	slope := k1 * b / average * (1 << normBits)
	for slope > 0 && slope < 1<<31 && n.Shift < 63 {
		slope *= 2
		n.Shift++
	}
	n.Slope = fixed(slope)
	return n
}

func fixed(x float64) uint32 { return uint32(min(math.Round(x), math.MaxUint32)) }

// maxNorm bounds the norm of a long document, so that sums stay below 2^64.
const maxNorm = 1 << 56

// Of is the length normaliser of a document with length tokens, the summand beside
// the frequency in the denominator, in units of 2^-24.
func (n Norm) Of(length uint32) uint64 {
	return uint64(n.Base) + min(uint64(n.Slope)*uint64(length)>>n.Shift, maxNorm)
}

// TF is the term-frequency component of a posting with frequency (or impact) f >= 1 in
// a document of length tokens: 1 to 2^32-1, in units of 2^-32.
func (n Norm) TF(f, length uint32) uint32 {
	if n.Impacts > 0 {
		return uint32(max(min(uint64(f)<<(32-n.Impacts), math.MaxUint32), 1))
	}
	return n.component(uint64(f)<<normBits, length)
}

// component is the term-frequency component of a frequency in units of 2^-24.
func (n Norm) component(a uint64, length uint32) uint32 {
	d := a + n.Of(length)
	// Move both so that the divisor has 32 bits.
	if s := bits.LeadingZeros64(d) - 32; s >= 0 {
		a, d = a<<s, d<<s
	} else {
		a, d = a>>-s, d>>-s
	}
	return uint32(max(min(a<<32/d, math.MaxUint32), 1))
}

// Contribution is the summand of a posting in the score of its document: weight
// times tf / 2^32, rounded up. It is at least 1 for positive arguments.
func Contribution(weight, tf uint32) uint32 {
	return uint32((uint64(weight)*uint64(tf) + math.MaxUint32) >> 32)
}

// TopK is the result of a batch of ranked queries. The caller owns it and reuses
// it; a Store overwrites it from the start and grows it where needed. After an
// error its content is undefined.
type TopK struct {
	// Offsets has one entry a query and one more: query i got
	// Offsets[i+1]-Offsets[i] documents, at most K.
	Offsets []uint64
	// Docs and Scores hold the best documents, query after query, by descending
	// score, equal ones by ascending docID.
	Docs   []uint32
	Scores []uint32
	Stats  Stats
}

// Query returns the documents and scores of query i, views.
func (t *TopK) Query(i int) (docs, scores []uint32) {
	a, b := t.Offsets[i], t.Offsets[i+1]
	return t.Docs[a:b:b], t.Scores[a:b:b]
}

// Reset empties the results and keeps their memory.
func (t *TopK) Reset() {
	t.Offsets = append(t.Offsets[:0], 0)
	t.Docs, t.Scores = t.Docs[:0], t.Scores[:0]
	t.Stats = Stats{}
}
