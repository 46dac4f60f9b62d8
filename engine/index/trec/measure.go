package trec

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// measure is a measure of trec_eval.
type measure struct {
	name       string
	parameters []float64                                  // defaults; nil: the cutoffs; none: empty
	format     string                                     // of a parameter in the name of a value; empty: no parameters
	of         func(j *judgement, of float64) float64     // of one query
	count      bool                                       // a whole number, summed over queries
	geometric  bool                                       // of gives a logarithm; queries have a geometric mean
	allOnly    bool                                       // for all queries alone
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
	{name: "num_q", count: true, allOnly: true, of: func(*judgement, float64) float64 { return 1 }},
	{name: "num_ret", count: true, of: func(j *judgement, _ float64) float64 { return float64(len(j.relevance)) }},
	{name: "num_rel", count: true, of: func(j *judgement, _ float64) float64 { return float64(j.relevant) }},
	{name: "num_rel_ret", count: true, of: func(j *judgement, _ float64) float64 { return j.found(len(j.relevance)) }},
	{name: "map", of: averagePrecision},
	{name: "gm_map", geometric: true, allOnly: true, of: func(j *judgement, _ float64) float64 {
		return math.Log(max(averagePrecision(j, 0), leastPrecision))
	}},
	{name: "Rprec", of: func(j *judgement, _ float64) float64 { return ratio(j.found(j.relevant), float64(j.relevant)) }},
	{name: "bpref", of: binaryPreference},
	{name: "recip_rank", of: func(j *judgement, _ float64) float64 {
		i := slices.IndexFunc(j.relevance, func(r int) bool { return r >= j.level })
		if i < 0 {
			return 0
		}
		return 1 / float64(i+1)
	}},
	{name: "iprec_at_recall", parameters: []float64{0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1}, format: "%.2f", of: interpolated, valid: func(p float64) string {
		if p < 0 || p > 1 {
			return "a recall from 0 to 1"
		}
		return ""
	}},
	{name: "P", format: "%.0f", of: func(j *judgement, k float64) float64 { return j.found(int(k)) / k }},
	{name: "recall", format: "%.0f", of: func(j *judgement, k float64) float64 { return ratio(j.found(int(k)), float64(j.relevant)) }},
	{name: "ndcg", of: func(j *judgement, _ float64) float64 { return j.gain(math.MaxInt) }},
	{name: "ndcg_cut", format: "%.0f", of: func(j *judgement, k float64) float64 { return j.gain(int(k)) }},
	{name: "success", parameters: []float64{1, 5, 10}, format: "%.0f", of: func(j *judgement, k float64) float64 { return min(j.found(int(k)), 1) }},
	{name: "set_P", of: setPrecision},
	{name: "set_recall", of: setRecall},
	{name: "set_map", of: func(j *judgement, _ float64) float64 { return setPrecision(j, 0) * setRecall(j, 0) }},
	{name: "set_F", of: func(j *judgement, _ float64) float64 {
		p, r := setPrecision(j, 0), setRecall(j, 0)
		return ratio(2*p*r, p+r)
	}},
}

// leastPrecision stands for an average precision of 0 in a geometric mean.
const leastPrecision = 0.00001

// sets are names for several measures.
var sets = map[string][]string{
	"official": {"num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"},
	"set":      {"num_q", "num_ret", "num_rel", "num_rel_ret", "set_P", "set_recall", "set_map", "set_F"},
}

// MeasureNames lists the measures and the sets of measures.
func MeasureNames() []string {
	names := []string{"official", "set", "all"}
	for _, m := range measures {
		names = append(names, m.name)
	}
	return names
}

// ParseMeasures checks names of measures: NAME, or NAME.PARAMETER,PARAMETER such as
// P.5,10, or the name of a set: official, set, all.
func ParseMeasures(names []string) error {
	_, err := parseMeasures(names, DefaultCutoffs())
	return err
}

// parseMeasures returns the values that names ask for, in the order of trec_eval.
func parseMeasures(names []string, cutoffs []int) ([]column, error) {
	asked := map[string][]float64{}
	for _, text := range names {
		name, list, hasList := strings.Cut(text, ".")
		var members []string
		switch {
		case name == "all":
			for _, m := range measures {
				members = append(members, m.name)
			}
		case sets[name] != nil:
			members = sets[name]
		default:
			members = []string{name}
		}
		for _, member := range members {
			i := slices.IndexFunc(measures, func(m measure) bool { return m.name == member })
			if i < 0 {
				return nil, fmt.Errorf("unknown measure %q (one of %s)", name, strings.Join(MeasureNames(), ", "))
			}
			parameters, err := measures[i].parse(list, cutoffs)
			if hasList && err == nil && (len(members) > 1 || measures[i].format == "") {
				err = errors.New("takes no parameters")
			}
			if err != nil {
				return nil, fmt.Errorf("measure %q: %w", text, err)
			}
			asked[member] = append(asked[member], parameters...)
		}
	}
	if len(asked) == 0 {
		return nil, errors.New("trec: no measures")
	}
	var columns []column
	for _, m := range measures {
		parameters, ok := asked[m.name]
		if !ok {
			continue
		}
		slices.Sort(parameters)
		for _, p := range slices.Compact(parameters) {
			label := m.name
			if m.format != "" {
				label += "_" + fmt.Sprintf(m.format, p)
			}
			columns = append(columns, column{m, label, p})
		}
	}
	return columns, nil
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
		p, err := strconv.ParseFloat(text, 64)
		complaint := ""
		if m.valid != nil {
			complaint = m.valid(p)
		} else if p < 1 || p > math.MaxInt32 || p != math.Trunc(p) {
			complaint = "a rank from 1"
		}
		if err != nil || p != p || complaint != "" {
			return nil, fmt.Errorf("parameter %q, want %s", text, max(complaint, "a number"))
		}
		parameters = append(parameters, p)
	}
	return parameters, nil
}

func averagePrecision(j *judgement, _ float64) (sum float64) {
	for i, relevance := range j.relevance {
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
