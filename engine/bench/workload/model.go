package workload

import (
	"math"
	"slices"
)

// Parameters of the GOV-like workload. The documentation of package bench gives their
// source.
const (
	DocCount = 1_053_372
	// SmallDocs is a number of documents for quick tests.
	SmallDocs = 30_000
	// MaxThemes is the number of themes of the whole workload. Themes share documents
	// and nothing else, so a workload with fewer themes has the same properties.
	MaxThemes = 16

	termsPerTheme   = 4096
	queriesPerTheme = 6250

	// A term of rank r occurs in ceiling*(1-r/terms)/(1+r/corner) of the documents:
	// Zipf's law, flat for function words and tapered at the rare end. The value of
	// corner gives 250 million postings.
	ceiling = 0.95
	corner  = 38.72

	// homeShare of the postings of a term lie in the home of its theme. There, the odds
	// that a document contains the term are homeOdds times its overall odds.
	homeShare = 0.65
	homeOdds  = 8.5

	// Documents form runs that stay together in clustered order, as the pages of one
	// site do.
	siteCount = 3072
)

// term holds the properties of one term.
type term struct {
	theme int
	share float64 // expected length of the list over the number of documents
	in    float64 // probability of a document in the home
	out   float64 // probability of any other document
	home  uint32  // number of documents in the home
}

// newTerm returns the term of a rank (0 is the most frequent) in an index with a number
// of documents. Successive ranks belong to successive themes, so that every theme has
// terms of every frequency.
func newTerm(rank int, docs uint32) term {
	taper := 1 - float64(rank)/(termsPerTheme*MaxThemes)
	f := float64(ceiling*taper) / (1 + float64(rank)/corner)
	t := term{theme: rank % MaxThemes, share: f}
	t.in = float64(homeOdds*f) / (1 - f + float64(homeOdds*f))
	size := float64(homeShare*f) / t.in
	t.home = uint32(size * float64(docs))
	t.out = float64((1-homeShare)*f) / (1 - size)
	return t
}

// start is the first document of the home, in the order of themes. A home may wrap
// around at the last document.
func (t *term) start(docs uint32) uint32 {
	center := uint32((2*uint64(t.theme) + 1) * uint64(docs) / (2 * MaxThemes))
	return uint32((uint64(center) + uint64(docs) - uint64(t.home/2)) % uint64(docs))
}

// classShare holds the share of queries with 2 to 10 terms, in hundredths of a percent.
// Ao et al. state 13.6 % for seven terms and more; their distribution is our choice.
var classShare = [...]int{2: 1610, 3: 2450, 4: 2280, 5: 1480, 6: 820, 7: 680, 8: 340, 9: 204, 10: 136}

// lengthKnots describe the lengths of the lists of a query, by its number of terms:
// knot i of n is the quantile i/(n-1) of the binary logarithm of the length. They were
// fitted to Table 4. Longer queries have six lists like queries of six terms, and more
// lists from the longest third, because the paper does not describe them.
var lengthKnots = [...][8]float64{
	2: {1.00, 1.44, 5.78, 8.67, 12.10, 14.07, 16.69, 19.85},
	3: {1.00, 8.65, 12.25, 13.63, 14.25, 16.03, 17.11, 19.93},
	4: {1.00, 9.67, 14.11, 14.40, 15.03, 15.54, 18.71, 19.93},
	5: {1.00, 12.78, 14.43, 14.92, 14.93, 16.87, 18.79, 19.93},
	6: {3.94, 13.83, 14.09, 15.67, 15.84, 17.60, 19.16, 19.93},
}

// drawLength draws the length of list i of a query with k terms. It is linear between
// powers of two: the logarithm need not be exact, but the result must be the same on
// every machine.
func drawLength(r *Random, k, i int) float64 {
	k = min(k, len(lengthKnots)-1)
	knots := &lengthKnots[k]
	quantile := r.Unit()
	if i >= k {
		quantile = (2 + quantile) / 3
	}
	p := float64(quantile * float64(len(knots)-1))
	below := min(int(p), len(knots)-2)
	x := knots[below] + float64((knots[below+1]-knots[below])*(p-float64(below)))
	whole := math.Floor(x)
	return math.Ldexp(1+(x-whole), int(whole))
}

// themeQueries draws the distinct queries of a theme, as indexes of its terms (0 is the
// most frequent). Their terms are in so many times the share of the documents as in GOV.
func themeQueries(seed uint64, theme int, asked float64) [][]uint16 {
	r := NewRandom(seed, streamQueries, uint64(theme))
	lengths := make([]float64, termsPerTheme)
	for i := range lengths {
		t := newTerm(i*MaxThemes+theme, DocCount)
		lengths[i] = float64(t.share * DocCount)
	}
	pick := func(k, i int) uint16 {
		want := float64(drawLength(r, k, i) * asked)
		at, _ := slices.BinarySearchFunc(lengths, want, func(l, want float64) int {
			if l > want {
				return -1
			}
			return 1
		})
		return uint16(min(at, len(lengths)-1))
	}
	var queries [][]uint16
	seen := make(map[[len(classShare)]uint16]bool)
	given, due := 0, 0 // queries so far, and their target by the shares of the classes so far
	for k, share := range classShare {
		due += queriesPerTheme * share
		for given < due/10_000 {
			var q []uint16
			for len(q) < k {
				if t := pick(k, len(q)); !slices.Contains(q, t) {
					q = append(q, t)
				}
			}
			slices.Sort(q)
			var key [len(classShare)]uint16
			for i, t := range q {
				key[i] = t + 1
			}
			if seen[key] {
				continue
			}
			seen[key] = true
			queries = append(queries, q)
			given++
		}
	}
	return queries
}
