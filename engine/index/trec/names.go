package trec

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"heddle/engine/syntax/pattern"
)

// aliases are names of ir-measures: without a cutoff, and with one (NAME@K).
var aliases = map[string]struct{ plain, cut string }{
	"ap": {"map", "map_cut"}, "map": {"map", "map_cut"},
	"ndcg": {"ndcg", "ndcg_cut"},
	"rr":   {"recip_rank", "recip_rank_cut"}, "mrr": {"recip_rank", "recip_rank_cut"},
	"p": {"", "P"}, "precision": {"", "P"},
	"r": {"", "recall"}, "recall": {"", "recall"},
	"success": {"", "success"},
	"iprec":   {"", "iprec_at_recall"},
	"rbp":     {"rbp", ""},
	"rprec":   {"Rprec", ""}, "bpref": {"bpref", ""}, "infap": {"infAP", ""},
	"setp": {"set_P", ""}, "setr": {"set_recall", ""}, "setap": {"set_map", ""}, "setf": {"set_F", ""},
	"numq": {"num_q", ""}, "numret": {"num_ret", ""}, "numrel": {"num_rel", ""}, "numrelret": {"num_rel_ret", ""},
}

// elsewhere are measures of trec_eval that this package lacks.
var elsewhere = []string{
	"11pt_avg", "G", "P_avgjg", "Rndcg", "Rprec_mult_avgjg", "binG", "dcg", "ideal_dcg", "map_avgjg", "num_nonjudged_ret",
	"num_nonrel_judged_ret", "rbp_resid", "relative_P", "relstring", "set_relative_P", "unj", "utility", "yaap", "prefs",
}

// MeasureNames lists the measures and the sets of measures.
func MeasureNames() []string {
	names := []string{"official", "set", "all"}
	for _, m := range measures {
		names = append(names, m.name)
	}
	return names
}

// ParseMeasures checks names of measures. A name is the name of a measure in trec_eval,
// maybe with parameters, such as map or P.5,10; the name of a set: official, set, all or
// all_trec; or a name of ir-measures, such as nDCG@10, AP or RBP(p=0.8).
func ParseMeasures(names []string) error {
	_, err := parseMeasures(names, DefaultCutoffs())
	return err
}

// request is one value that a name asks for. An empty label stands for the name in trec_eval.
type request struct {
	parameter float64
	label     string
}

// parseMeasures returns the values that names ask for, in the order of trec_eval.
func parseMeasures(names []string, cutoffs []int) ([]column, error) {
	asked := map[string][]request{}
	for _, text := range names {
		name, list, label := alias(text)
		members := members(name)
		for _, member := range members {
			i := slices.IndexFunc(measures, func(m measure) bool { return m.name == member })
			if i < 0 {
				return nil, unknown(name)
			}
			parameters, err := measures[i].parse(list, cutoffs)
			if list != "" && err == nil && (len(members) > 1 || measures[i].format == "") {
				err = errors.New("takes no parameters")
			}
			if err != nil {
				return nil, fmt.Errorf("measure %q: %w", text, err)
			}
			for _, p := range parameters {
				asked[member] = append(asked[member], request{p, label})
			}
		}
	}
	if len(asked) == 0 {
		return nil, errors.New("trec: no measures")
	}
	var columns []column
	for _, m := range measures {
		requests := asked[m.name]
		slices.SortStableFunc(requests, func(a, b request) int {
			return cmp.Or(cmp.Compare(a.parameter, b.parameter), cmp.Compare(a.label, b.label))
		})
		for _, r := range slices.Compact(requests) {
			columns = append(columns, column{m, cmp.Or(r.label, m.label(r.parameter)), r.parameter})
		}
	}
	return columns, nil
}

// members lists the measures of a set, or of a name that is no set.
func members(name string) (list []string) {
	if name != "all" && name != "all_trec" {
		if set := sets[name]; set != nil {
			return set
		}
		return []string{name}
	}
	for _, m := range measures {
		if !m.extra {
			list = append(list, m.name)
		}
	}
	return list
}

// label is the name of a value in trec_eval.
func (m *measure) label(parameter float64) string {
	if m.format == "" || m.name == "rbp" && parameter == m.parameters[0] {
		return m.name
	}
	return m.name + "_" + fmt.Sprintf(m.format, parameter)
}

var irMeasure = pattern.New(`^([A-Za-z]+)(?:\(p=([0-9.]+)\))?(?:@([0-9.]+))?$`)

// alias splits the text of a measure into its name in trec_eval and its parameters. label is
// the text itself if it is a name of ir-measures.
func alias(text string) (name, list, label string) {
	name, list, _ = strings.Cut(text, ".")
	list = strings.TrimPrefix(list, "p=") // rbp.p=0.8
	if slices.ContainsFunc(measures, func(m measure) bool { return m.name == name }) && !strings.ContainsAny(text, "(@") {
		return name, list, ""
	}
	m := irMeasure().FindStringSubmatch(text)
	if m == nil {
		return name, list, ""
	}
	switch a := aliases[strings.ToLower(m[1])]; {
	case m[3] != "" && m[2] == "" && a.cut != "":
		return a.cut, m[3], text
	case m[3] == "" && a.plain != "" && (m[2] == "" || a.plain == "rbp"):
		return a.plain, m[2], text
	}
	return name, list, ""
}

// unknown is the error for a name that is no measure.
func unknown(name string) error {
	if slices.Contains(elsewhere, name) || strings.HasPrefix(name, "prefs_") {
		return fmt.Errorf("measure %q is not computed here; give the files to trec_eval: trec_eval -m %s QRELS RUN", name, name)
	}
	return fmt.Errorf("unknown measure %q (one of %s; or a name of ir-measures such as nDCG@10)", name, strings.Join(MeasureNames(), ", "))
}
