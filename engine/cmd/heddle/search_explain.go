package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"heddle/engine"
	"heddle/engine/index/querylang"
	"heddle/engine/index/trec"
	"heddle/engine/plan"
)

// explanation says how one query was answered.
type explanation struct {
	Query    string     `json:"-"`
	Text     string     `json:"-"`
	Backend  string     `json:"backend"`
	Device   string     `json:"device"`
	Formula  string     `json:"formula,omitempty"`   // of a boolean query, simplified
	Runs     string     `json:"algorithm,omitempty"` // and why; of an AND of lists
	Part     bool       `json:"part,omitempty"`      // as --part asks
	Lists    []listPlan `json:"lists"`               // in the order of work
	Unknown  []string   `json:"unknown,omitempty"`   // terms of no document
	Mode     string     `json:"mode,omitempty"`      // of a ranked query
	Matches  uint64     `json:"matches"`             // or documents of a ranking
	Micros   float64    `json:"us"`                  // from call to return
	DecodeUS float64    `json:"decode_us,omitempty"`
	ProbeUS  float64    `json:"probe_us,omitempty"`
	GatherUS float64    `json:"compact_us,omitempty"`
	ScoreUS  float64    `json:"score_us,omitempty"`
	SelectUS float64    `json:"select_us,omitempty"`
	UpUS     float64    `json:"upload_us,omitempty"`
	DownUS   float64    `json:"download_us,omitempty"`
	Schedule string     `json:"schedule,omitempty"` // with --backend all
}

// listPlan is one list of a query.
type listPlan struct {
	Term      string `json:"term"`
	Documents uint32 `json:"documents"`
	Codec     string `json:"codec"`
	// How elements of shorter lists are looked up in it, or the weight that it has in
	// a ranked query: the most that a document can get for it.
	Method string `json:"method"`
}

// asSet is the method of a list in a formula that is no mere AND.
const asSet = "as a set"

// explainAnswer says how asked, which is q, was answered; it was a batch of its own.
func (s *searcher) explainAnswer(q trec.Topic, asked engine.Query, got answer) *explanation {
	x, info, st := s.x, s.x.Backend(), s.stats()
	e := &explanation{
		Query: q.ID, Text: q.Text, Backend: info.Kind, Device: info.Device, Part: s.opt.Part, Lists: []listPlan{}, Matches: got.count,
		Micros: micros(st.Wall), DecodeUS: micros(st.Decode), ProbeUS: micros(st.Probe), GatherUS: micros(st.Compact),
		ScoreUS: micros(st.Score), SelectUS: micros(st.Select), UpUS: micros(st.Upload), DownUS: micros(st.Download),
	}
	if s.all != nil {
		e.Schedule, e.Micros = s.why.String(), micros(s.why.Took) // a kept answer has no batch
	}
	if s.rank != nil {
		e.Mode, e.Matches = s.rank.Mode.String(), uint64(len(got.docs))
		e.rankedLists(s, asked)
		return e
	}
	e.Runs = x.ExplainQuery(asked, s.opt)
	terms, conjunction := asked.Terms, !s.opt.Any
	switch {
	case asked.Expr != nil:
		for t := range asked.Expr.Terms {
			terms = append(terms, x.Terms(t)...)
		}
		formula := x.Formula(*asked.Expr)
		e.Formula = formulaText(x, formula).String()
		_, conjunction = formula.Conjunction(nil)
	case asked.Text != "":
		terms = x.Terms(asked.Text)
	}
	terms = slices.Sorted(slices.Values(terms))
	for _, t := range slices.Compact(terms) {
		h, ok := x.File().Lookup(t)
		if !ok {
			e.Unknown = append(e.Unknown, t)
			continue
		}
		l := x.Source().Lists[h]
		method := asSet
		if conjunction {
			method = x.Explain(s.opt.Algorithm, h)
		}
		e.Lists = append(e.Lists, listPlan{t, l.Len, l.Codec.String(), method})
	}
	e.orderLists()
	if len(e.Lists) > 0 && conjunction {
		e.Lists[0].Method = "its documents are looked up in the others"
	}
	return e
}

// rankedLists explains the lists of a ranked query: with the most that a document
// can get for each.
func (e *explanation) rankedLists(s *searcher, asked engine.Query) {
	terms, weights := asked.Terms, asked.Weights
	if asked.Text != "" {
		terms, weights, _ = s.x.WeightedTerms(asked.Text) // which was answered, so it is right
	}
	sum := map[string]float64{}
	for i, t := range terms {
		sum[t] += weights[i]
	}
	for _, t := range slices.Sorted(maps.Keys(sum)) {
		h, ok := s.x.File().Lookup(t)
		if !ok {
			e.Unknown = append(e.Unknown, t)
			continue
		}
		l, weight := s.x.Source().Lists[h], sum[t]
		if p := s.rank.Scoring; p != nil {
			docs, df := uint64(s.x.Source().Docs), uint64(l.Len)
			if st := s.rank.Statistics; st != nil {
				docs, df = st.Docs, st.DF[t]
			}
			weight *= p.Weight(docs, df)
		}
		e.Lists = append(e.Lists, listPlan{t, l.Len, l.Codec.String(), fmt.Sprintf("weight %.4f", weight)})
	}
	e.orderLists()
}

// orderLists puts lists in the order of work: handles are ranks of terms, so this
// is that of plan.MatchBatch.Add.
func (e *explanation) orderLists() {
	slices.SortStableFunc(e.Lists, func(a, b listPlan) int { return cmp.Compare(a.Documents, b.Documents) })
}

// formulaText is f with the terms of its lists.
func formulaText(x *engine.Index, f plan.Expr) querylang.Expr {
	if f.Op == plan.OpList {
		return querylang.Expr{Term: x.File().Term(f.List)}
	}
	e := querylang.Expr{Op: map[plan.OpCode]querylang.Op{plan.OpAnd: querylang.And, plan.OpOr: querylang.Or, plan.OpAndNot: querylang.Not}[f.Op]}
	for _, a := range f.Args {
		e.Args = append(e.Args, formulaText(x, a))
	}
	return e
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

func (e *explanation) write(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "query %s: %s\n", e.Query, e.Text)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "  backend\t%s: %s\n", e.Backend, e.Device)
	if e.Formula != "" {
		fmt.Fprintf(w, "  formula\t%s\n", e.Formula)
	}
	if e.Runs != "" {
		fmt.Fprintf(w, "  runs\t%s\n", e.Runs)
	}
	if e.Part {
		fmt.Fprint(w, "  part\tone work-group or thread a query\n")
	}
	for i, l := range e.Lists {
		step := "then"
		switch {
		case l.Method == asSet || e.Mode != "":
			step = "list"
		case i == 0:
			step = "first"
		}
		fmt.Fprintf(w, "  %s\t%s: %d documents, %s, %s\n", step, l.Term, l.Documents, l.Codec, l.Method)
	}
	for _, t := range e.Unknown {
		fmt.Fprintf(w, "  unknown\t%s: in no document\n", t)
	}
	what := "matches"
	if e.Mode != "" {
		fmt.Fprintf(w, "  mode\t%s\n", e.Mode)
		what = "best"
	}
	fmt.Fprintf(w, "  %s\t%d documents in %.1f µs\n", what, e.Matches, e.Micros)
	if e.DecodeUS+e.ProbeUS+e.GatherUS+e.ScoreUS+e.SelectUS+e.UpUS+e.DownUS > 0 {
		fmt.Fprintf(w, "  device\tupload %.1f µs, decode %.1f, probe %.1f, compact %.1f, score %.1f, select %.1f, download %.1f\n",
			e.UpUS, e.DecodeUS, e.ProbeUS, e.GatherUS, e.ScoreUS, e.SelectUS, e.DownUS)
	}
	for line := range strings.Lines(e.Schedule) {
		fmt.Fprintf(w, "  %s", line)
	}
	w.Flush()
	_, err := io.WriteString(out, b.String())
	return err
}
