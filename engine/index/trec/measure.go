package trec

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"heddle/engine/syntax"
)

// measure is a measure of trec_eval.
type measure struct {
	name       string
	parameters []float64                                  // defaults; nil: the cutoffs; none: empty
	format     string                                     // format of the parameter in the name of a value; empty: no parameters
	of         func(j *judgement, of float64) float64     // returns the value of one query
	count      bool                                       // a whole number, summed over queries
	geometric  bool                                       // values are logarithms; the mean over queries is the geometric mean
	allOnly    bool                                       // the measure has a value for all queries together alone
	extra      bool                                       // not in trec_eval, and not in the set all
	valid      func(parameter float64) (complaint string) // nil: a rank, from 1
}

// column is a measure with one parameter.
type column struct {
	measure
	label     string
	parameter float64
}

// measures are all measures in the order of trec_eval.
var measures = []measure{
	{name: runID, allOnly: true, of: func(*judgement, float64) float64 { return 0 }},
	{name: "num_q", count: true, allOnly: true, of: func(*judgement, float64) float64 { return 1 }},
	{name: "num_ret", count: true, of: func(j *judgement, _ float64) float64 { return float64(len(j.relevance)) }},
	{name: "num_rel", count: true, of: func(j *judgement, _ float64) float64 { return float64(j.relevant) }},
	{name: "num_rel_ret", count: true, of: func(j *judgement, _ float64) float64 { return j.found(len(j.relevance)) }},
	{name: "map", of: func(j *judgement, _ float64) float64 { return averagePrecision(j, math.MaxInt) }},
	{name: "gm_map", geometric: true, allOnly: true, of: func(j *judgement, _ float64) float64 {
		return math.Log(max(averagePrecision(j, math.MaxInt), leastPrecision))
	}},
	{name: "Rprec", of: func(j *judgement, _ float64) float64 { return ratio(j.found(j.relevant), float64(j.relevant)) }},
	{name: "bpref", of: binaryPreference},
	{name: "recip_rank", of: func(j *judgement, _ float64) float64 { return j.reciprocal(math.MaxInt) }},
	{name: "recip_rank_cut", extra: true, format: "%.0f", of: func(j *judgement, k float64) float64 { return j.reciprocal(int(k)) }},
	{name: "iprec_at_recall", parameters: []float64{0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1}, format: "%.2f", of: interpolated, valid: between(0, 1, "a recall")},
	{name: "P", format: "%.0f", of: func(j *judgement, k float64) float64 { return j.found(int(k)) / k }},
	{name: "recall", format: "%.0f", of: func(j *judgement, k float64) float64 { return ratio(j.found(int(k)), float64(j.relevant)) }},
	{name: "infAP", of: inferredPrecision},
	{name: "gm_bpref", geometric: true, allOnly: true, of: func(j *judgement, _ float64) float64 {
		return math.Log(max(binaryPreference(j, 0), leastPrecision))
	}},
	{name: "Rprec_mult", parameters: []float64{.2, .4, .6, .8, 1, 1.2, 1.4, 1.6, 1.8, 2}, format: "%.2f", of: func(j *judgement, multiple float64) float64 {
		k := math.Floor(multiple*float64(j.relevant) + 0.9) // rounded as trec_eval does
		return ratio(j.found(int(min(k, math.MaxInt32))), k)
	}, valid: between(0, math.MaxInt32, "a multiple")},
	{name: "ndcg", of: func(j *judgement, _ float64) float64 { return j.gain(math.MaxInt) }},
	{name: "ndcg_rel", of: gainAtRelevant},
	{name: "ndcg_cut", format: "%.0f", of: func(j *judgement, k float64) float64 { return j.gain(int(k)) }},
	{name: "map_cut", format: "%.0f", of: averagePrecision},
	{name: "success", parameters: []float64{1, 5, 10}, format: "%.0f", of: func(j *judgement, k float64) float64 { return min(j.found(int(k)), 1) }},
	{name: "set_P", of: setPrecision},
	{name: "set_recall", of: setRecall},
	{name: "set_map", of: func(j *judgement, _ float64) float64 { return setPrecision(j, 0) * setRecall(j, 0) }},
	{name: "set_F", of: func(j *judgement, _ float64) float64 {
		p, r := setPrecision(j, 0), setRecall(j, 0)
		return ratio(2*p*r, p+r)
	}},
	{name: "rbp", parameters: []float64{.9}, format: "p=%v", of: rankBiasedPrecision, valid: between(0, 1, "a persistence")},
}

// runID is the measure that names the run.
const runID = "runid"

// between is a check of parameters from lo to hi.
func between(lo, hi float64, noun string) func(float64) string {
	return func(p float64) string {
		if p >= lo && p <= hi {
			return ""
		}
		return fmt.Sprintf("%s from %v to %v", noun, lo, hi)
	}
}

// leastPrecision stands for an average precision of 0 in a geometric mean.
const leastPrecision = 0.00001

// sets are names for several measures.
var sets = map[string][]string{
	"official": {runID, "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"},
	"set":      {runID, "num_q", "num_ret", "num_rel", "num_rel_ret", "set_P", "set_recall", "set_map", "set_F"},
}

// parse reads a list of parameters; an empty list gives the defaults.
func (m *measure) parse(list string, cutoffs []int) (parameters []float64, err error) {
	switch {
	case m.format == "":
		return []float64{0}, nil
	case list == "" && m.parameters != nil:
		return m.parameters, nil
	case list == "":
		for _, k := range cutoffs {
			parameters = append(parameters, float64(k))
		}
		return parameters, nil
	}
	for text := range strings.SplitSeq(list, ",") {
		p, ok := syntax.ParseFloat(text, 64)
		complaint := ""
		if m.valid != nil {
			complaint = m.valid(p)
		} else if p < 1 || p > math.MaxInt32 || p != math.Trunc(p) {
			complaint = "a rank from 1"
		}
		if !ok || p != p || complaint != "" {
			return nil, fmt.Errorf("parameter %q, want %s", text, max(complaint, "a number"))
		}
		parameters = append(parameters, p)
	}
	return parameters, nil
}

// averagePrecision is the mean precision at the relevant documents of the first k ranks.
func averagePrecision(j *judgement, k float64) (sum float64) {
	for i, relevance := range j.first(k) {
		if relevance >= j.level {
			sum += float64(j.hits[i+1]) / float64(i+1)
		}
	}
	return ratio(sum, float64(j.relevant))
}

// binaryPreference is the share of pairs of a relevant and a rejected document that are
// ranked in the right order, over the first relevant rejected documents.
func binaryPreference(j *judgement, _ float64) (sum float64) {
	rejected := 0
	for _, relevance := range j.relevance {
		switch {
		case relevance >= j.level:
			sum += 1 - ratio(float64(min(rejected, j.relevant)), float64(min(j.rejected, j.relevant)))
		case relevance >= 0:
			rejected++
		}
	}
	return ratio(sum, float64(j.relevant))
}

// interpolated is the greatest precision at a rank where the recall is at least recall.
func interpolated(j *judgement, recall float64) (best float64) {
	least := int(math.Round(recall * float64(j.relevant)))
	for i := range j.relevance {
		if n := j.hits[i+1]; n >= least {
			best = max(best, float64(n)/float64(i+1))
		}
	}
	return best
}

func setPrecision(j *judgement, _ float64) float64 {
	return ratio(j.found(len(j.relevance)), float64(len(j.relevance)))
}

func setRecall(j *judgement, _ float64) float64 {
	return ratio(j.found(len(j.relevance)), float64(j.relevant))
}

// inferredPrecision estimates the average precision from a sample of the pool
// (Yilmaz and Aslam, CIKM 2006). A negative relevance marks a document of the pool
// without a judgement.
func inferredPrecision(j *judgement, _ float64) (sum float64) {
	const epsilon = 0.00001
	var relevant, rejected, unjudged float64
	for i, relevance := range j.relevance {
		switch {
		case relevance == pooled:
			unjudged++
		case relevance == unpooled:
		case relevance < j.level:
			rejected++
		default:
			above := float64(i) // documents above this one
			sum += 1 / (above + 1)
			if i > 0 {
				inPool := (relevant + rejected + unjudged) / above
				sum += above / (above + 1) * inPool * (relevant + epsilon) / (relevant + rejected + 2*epsilon)
			}
			relevant++
		}
	}
	return ratio(sum, float64(j.relevant))
}

// gainAtRelevant is the mean of nDCG at the ranks of documents with a positive relevance. A
// document that was not retrieved has the gain of the whole ranking.
func gainAtRelevant(j *judgement, _ float64) (sum float64) {
	var dcg, ideal float64
	missing := len(j.ideal)
	for i, r := range j.relevance {
		discount := math.Log2(float64(i + 2))
		if i < len(j.ideal) {
			ideal += j.ideal[i] / discount
		}
		if r > 0 {
			dcg += float64(r) / discount
			sum += dcg / ideal
			missing--
		}
	}
	sum += ratio(float64(missing)*dcg, discounted(j.ideal, math.MaxInt))
	return ratio(sum, float64(len(j.ideal)))
}

// rankBiasedPrecision is the expected gain of a reader who goes on to the next document with
// probability persistence (Moffat and Zobel, TOIS 2008). Gains are relevances, divided by
// the greatest relevance of the query where that exceeds 1.
func rankBiasedPrecision(j *judgement, persistence float64) (sum float64) {
	greatest := 1.0
	if len(j.ideal) > 0 {
		greatest = max(greatest, j.ideal[0])
	}
	weight := 1 - persistence
	for _, r := range j.relevance {
		sum += float64(max(r, 0)) / greatest * weight
		weight *= persistence
	}
	return sum
}

// first returns the relevances of the first k ranks.
func (j *judgement) first(k float64) []int {
	return j.relevance[:int(min(k, float64(len(j.relevance))))]
}

// reciprocal is 1 over the rank of the first relevant document of the first k, or 0.
func (j *judgement) reciprocal(k int) float64 {
	i := slices.IndexFunc(j.relevance[:min(k, len(j.relevance))], func(r int) bool { return r >= j.level })
	if i < 0 {
		return 0
	}
	return 1 / float64(i+1)
}

// gain is the normalised discounted cumulative gain of the first k ranks.
func (j *judgement) gain(k int) float64 {
	gains := make([]float64, len(j.relevance))
	for i, r := range j.relevance {
		gains[i] = float64(max(r, 0))
	}
	return ratio(discounted(gains, k), discounted(j.ideal, k))
}

// discounted is the discounted cumulative gain of the first k ranks.
func discounted(gains []float64, k int) (sum float64) {
	for i, g := range gains[:min(k, len(gains))] {
		sum += g / math.Log2(float64(i+2))
	}
	return sum
}
