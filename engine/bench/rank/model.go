package rank

import (
	"math"
	"slices"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// Parameters of the GOV2-like workload. The documentation of package bench gives their
// source.
const (
	gov2Sites    = 17_187
	gov2Postings = 3_740_000 // postings per query, of all its lists

	// A token of the log is a new term with this probability. Otherwise it repeats an
	// earlier token of its topic (Simon's model).
	newTermShare = 0.69
	gov2Topics   = 32

	// atHome of the postings of a term lie at sites of its topic. There, the odds that
	// a document contains the term are topicOdds times its overall odds.
	atHome    = 0.65
	topicOdds = 1000

	// Bounds of the length of a list, as fractions of all documents.
	leastShare = 128.0 / harness.GOV2Docs
	mostShare  = 0.95
)

// topicShare holds the share of queries with 1 to 11 terms in hundredths of a percent.
var topicShare = [...]int{1: 2231, 2: 3091, 3: 2066, 4: 1213, 5: 708, 6: 330, 7: 170, 8: 95, 9: 57, 10: 25, 11: 14}

// term holds the properties of the list of one term.
type term struct {
	in, out      float64 // probability of a document in the home, and of any other
	center, size float64 // the home: sites whose place is near the center, on a circle of length 1
	frequency    float64 // mean term frequency, at least 1
	most         uint32  // largest term frequency
}

// length is the expected length of the list for a number of documents.
func (t *term) length(docs uint32) float64 {
	return (float64(t.size*t.in) + float64((1-t.size)*t.out)) * float64(docs)
}

// topicTerm returns a term of a topic that occurs in a share of all documents.
func topicTerm(share, center float64) term {
	t := term{center: center, frequency: 1.5 + float64(6*math.Sqrt(share)), most: math.MaxUint16}
	t.in = float64(topicOdds*share) / (1 - share + float64(topicOdds*share))
	t.size = float64(atHome*share) / t.in
	t.out = float64((1-atHome)*share) / (1 - t.size)
	return t
}

// gov2Log draws n queries and the properties of their terms. The lists of a query have
// gov2Postings postings on average, scaled to the number of documents.
func gov2Log(seed uint64, n int, docs uint32) (queries [][]plan.Handle, terms []term) {
	r := workload.NewRandom(seed, workload.StreamRankLog, 0)
	queries = make([][]plan.Handle, n)
	tokens := make([][]plan.Handle, gov2Topics) // tokens of the log so far, by topic
	var topics []int                            // topics of the terms
	var tokenCount uint64
	given, due, k := 0, 0, 0
	for i := range queries {
		for given >= due/10_000 && k < len(topicShare)-1 {
			k++
			due += n * topicShare[k]
		}
		given++
		topic := int(r.Below(gov2Topics))
		for len(queries[i]) < k {
			h := plan.Handle(len(topics))
			if old := tokens[topic]; len(old) > 0 && r.Unit() > newTermShare {
				if h = old[r.Below(uint64(len(old)))]; slices.Contains(queries[i], h) {
					continue
				}
			} else {
				topics = append(topics, topic)
			}
			queries[i] = append(queries[i], h)
		}
		tokens[topic] = append(tokens[topic], queries[i]...)
		tokenCount += uint64(k)
	}
	workload.Shuffle(r, queries)

	// Lengths are log-uniform. Popular terms have longer lists: a term that occurs in n
	// queries has the longest of n draws. The upper end is chosen for the mean.
	uses := make([]float64, len(topics))
	for _, q := range queries {
		for _, h := range q {
			uses[h]++
		}
	}
	quantiles := make([]float64, len(topics))
	for i := range quantiles {
		for range int(uses[i]) {
			quantiles[i] = max(quantiles[i], r.Unit())
		}
	}
	want := float64(gov2Postings*float64(n)) * (float64(docs) / harness.GOV2Docs)
	least := log2(max(float64(leastShare*float64(docs)), 2))
	lo, hi := least, log2(float64(mostShare*float64(docs)))
	for range 40 {
		mid, sum := (lo+hi)/2, 0.0
		for i, q := range quantiles {
			sum += float64(uses[i] * exp2(least+float64(q*(mid-least))))
		}
		if sum < want {
			lo = mid
		} else {
			hi = mid
		}
	}
	for i, q := range quantiles {
		length := exp2(least + float64(q*(lo-least)))
		terms = append(terms, topicTerm(length/float64(docs), (float64(topics[i])+0.5)/gov2Topics))
	}
	return queries, terms
}

func log2(x float64) float64 { return workload.Ln(x) / math.Ln2 }

// exp2 is 2^x, with linear interpolation between powers of two: it is the same on every
// machine.
func exp2(x float64) float64 {
	whole := math.Floor(x)
	return math.Ldexp(1+(x-whole), int(whole))
}
