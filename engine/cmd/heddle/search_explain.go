package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"heddle/engine"
	"heddle/engine/boolean"
	"heddle/engine/plan"
	"heddle/engine/trec"
)

// explanation says how one query was answered.
type explanation struct {
	Query    string     `json:"-"`
	Text     string     `json:"-"`
	Backend  string     `json:"backend"`
	Device   string     `json:"device"`
	Formula  string     `json:"formula,omitempty"`   // of a boolean query, simplified
	Runs     string     `json:"algorithm,omitempty"` // and why; of an AND of lists
	Lists    []listPlan `json:"lists"`               // in the order of work
	Unknown  []string   `json:"unknown,omitempty"`   // terms of no document
	Matches  uint64     `json:"matches"`
	Micros   float64    `json:"us"` // from call to return
	DecodeUS float64    `json:"decode_us,omitempty"`
	ProbeUS  float64    `json:"probe_us,omitempty"`
	GatherUS float64    `json:"compact_us,omitempty"`
	UpUS     float64    `json:"upload_us,omitempty"`
	DownUS   float64    `json:"download_us,omitempty"`
}

// listPlan is one list of a query.
type listPlan struct {
	Term      string `json:"term"`
	Documents uint32 `json:"documents"`
	Codec     string `json:"codec"`
	Method    string `json:"method"` // how elements of shorter lists are looked up in it
}

// asSet is the method of a list in a formula that is no mere AND.
const asSet = "as a set"

func explain(x *engine.Index, q trec.Topic, asked engine.Query, opt engine.SearchOptions, got engine.Answer) *explanation {
	info, st := x.Backend(), got.Stats
	e := &explanation{
		Query: q.ID, Text: q.Text, Backend: info.Kind, Device: info.Device, Lists: []listPlan{}, Matches: got.Count,
		Runs: x.ExplainQuery(asked, opt), Micros: micros(st.Wall), DecodeUS: micros(st.Decode), ProbeUS: micros(st.Probe), GatherUS: micros(st.Compact),
		UpUS: micros(st.Upload), DownUS: micros(st.Download),
	}
	terms := x.Terms(q.Text)
	conjunction := true
	if asked.Expr != nil {
		terms = nil
		for t := range asked.Expr.Terms {
			terms = append(terms, x.Terms(t)...)
		}
		formula := x.Formula(*asked.Expr)
		e.Formula = formulaText(x, formula).String()
		_, conjunction = formula.Conjunction(nil)
	}
	slices.Sort(terms)
	for _, t := range slices.Compact(terms) {
		h, ok := x.File().Lookup(t)
		if !ok {
			e.Unknown = append(e.Unknown, t)
			continue
		}
		l := x.Source().Lists[h]
		method := asSet
		if conjunction {
			method = x.Explain(opt.Algorithm, h)
		}
		e.Lists = append(e.Lists, listPlan{t, l.Len, l.Codec.String(), method})
	}
	// Handles are ranks of terms, so this is the order of plan.Batch.Add.
	slices.SortStableFunc(e.Lists, func(a, b listPlan) int { return cmp.Compare(a.Documents, b.Documents) })
	if len(e.Lists) > 0 && conjunction {
		e.Lists[0].Method = "its documents are looked up in the others"
	}
	return e
}

// formulaText is f with the terms of its lists.
func formulaText(x *engine.Index, f plan.Expr) boolean.Expr {
	if f.Op == plan.OpList {
		return boolean.Expr{Term: x.File().Term(f.List)}
	}
	e := boolean.Expr{Op: map[plan.OpCode]boolean.Op{plan.OpAnd: boolean.And, plan.OpOr: boolean.Or, plan.OpAndNot: boolean.Not}[f.Op]}
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
	for i, l := range e.Lists {
		step := "then"
		switch {
		case l.Method == asSet:
			step = "list"
		case i == 0:
			step = "first"
		}
		fmt.Fprintf(w, "  %s\t%s: %d documents, %s, %s\n", step, l.Term, l.Documents, l.Codec, l.Method)
	}
	for _, t := range e.Unknown {
		fmt.Fprintf(w, "  unknown\t%s: in no document\n", t)
	}
	fmt.Fprintf(w, "  matches\t%d documents in %.1f µs\n", e.Matches, e.Micros)
	if e.DecodeUS+e.ProbeUS+e.GatherUS+e.UpUS+e.DownUS > 0 {
		fmt.Fprintf(w, "  device\tupload %.1f µs, decode %.1f, probe %.1f, compact %.1f, download %.1f\n",
			e.UpUS, e.DecodeUS, e.ProbeUS, e.GatherUS, e.DownUS)
	}
	w.Flush()
	_, err := io.WriteString(out, b.String())
	return err
}
