package answer

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/index/trec"
	"heddle/engine/observe"
	"heddle/engine/plan"
)

// Explanation describes the execution of one query. Its JSON names are part of the
// command line's contract.
type Explanation struct {
	Query    string   `json:"-"`
	Text     string   `json:"-"`
	Backend  string   `json:"backend"`
	Device   string   `json:"device"`
	Choice   string   `json:"choice,omitempty"`    // reason for the backend
	Boolean  string   `json:"boolean,omitempty"`   // simplified expression of a query with operators
	Runs     string   `json:"algorithm,omitempty"` // intersection algorithm and the reason for it; block-max pruning of a ranked query
	Part     bool     `json:"part,omitempty"`      // with --part
	Phrases  string   `json:"phrases,omitempty"`   // documents with all words of a phrase, and positions read
	Filter   string   `json:"filter,omitempty"`    // documents that pass, and the plan
	Order    string   `json:"order,omitempty"`     // order that pure Go has put the documents in
	Lists    []List   `json:"lists"`               // in the order of execution
	Unknown  []string `json:"unknown,omitempty"`   // words that no document has
	Mode     string   `json:"mode,omitempty"`      // documents of a ranked query: or, and, and-or
	Widened  bool     `json:"widened,omitempty"`   // and-or: too few documents have all words, and the query ran again for any word
	Matches  uint64   `json:"matches"`             // or the number of ranked documents
	Blocks   uint64   `json:"blocks,omitempty"`    // blocks of compressed lists that pure Go has decoded
	Micros   float64  `json:"us"`                  // from call to return
	DecodeUS float64  `json:"decode_us,omitempty"`
	ProbeUS  float64  `json:"probe_us,omitempty"`
	GatherUS float64  `json:"compact_us,omitempty"`
	ScoreUS  float64  `json:"score_us,omitempty"`
	SelectUS float64  `json:"select_us,omitempty"`
	UpUS     float64  `json:"upload_us,omitempty"`
	DownUS   float64  `json:"download_us,omitempty"`
	Schedule string   `json:"schedule,omitempty"` // with --backend all
}

// List describes one list of a query.
type List struct {
	Term      string `json:"term"`
	Documents uint32 `json:"documents"`
	Codec     string `json:"codec"`
	// Method of looking up the elements of shorter lists in this list. In a ranked
	// query: the weight of the term.
	Method string `json:"method"`
}

// asSet is the method of a list in an expression that is not a conjunction.
const asSet = "as a set"

// explain describes the execution of asked, which was the only query of its batch.
func (s *Searcher) explain(q trec.Topic, asked engine.Query, got engine.Hits) *Explanation {
	x, info, st := s.Index, s.backend(s.why.Processor), s.why.Stats
	e := &Explanation{
		Query: q.ID, Text: q.Text, Backend: info.Kind, Device: info.Device, Choice: s.Choice, Part: asked.Override != nil && asked.Override.Part, Lists: []List{}, Matches: got.Count, Blocks: st.Blocks,
		Micros: terminal.Micros(st.Wall), DecodeUS: terminal.Micros(st.Decode), ProbeUS: terminal.Micros(st.Probe), GatherUS: terminal.Micros(st.Compact),
		ScoreUS: terminal.Micros(st.Clear + st.Score), SelectUS: terminal.Micros(st.Select), UpUS: terminal.Micros(st.Upload), DownUS: terminal.Micros(st.Download),
	}
	if s.Scheduled {
		e.Schedule, e.Micros = s.why.String(), terminal.Micros(s.why.Took) // a cached answer has no batch
	}
	e.Order = s.why.Order
	if st.PhraseCandidates > 0 {
		e.Phrases = observe.Phrases(&st)
	}
	if s.why.Filter != nil {
		e.Filter = s.why.Filter.String()
	}
	if asked.Expr != nil {
		if meaning, err := x.Meaning(asked); err == nil { // the query was answered
			e.Boolean = meaning.String()
		}
	}
	if s.ranked() {
		e.Mode, e.Widened = asked.Match.String(), st.Widened > 0
		if st.Pruned > 0 {
			e.Runs = "blocks: block-max pruning, which reads only blocks that can have one of the best documents"
		}
		e.rankedLists(s, asked)
	} else {
		e.Runs = x.ExplainQuery(s.why.Processor, asked)
		e.matchedLists(s, asked)
	}
	var known []string
	for _, l := range e.Lists {
		known = append(known, l.Term)
	}
	whole := x.Statistics()
	e.Unknown = wordsOf(&asked, &whole, known, e.Unknown)
	return e
}

// matchedLists describes the lists of a query that is not ranked.
func (e *Explanation) matchedLists(s *Searcher, asked engine.Query) {
	x := s.Index
	terms, conjunction := asked.Terms, asked.Match == engine.And
	if simplified, not, err := x.Expression(asked); asked.Expr != nil && err == nil {
		for leaf := range asked.Expr.Leaves { // excluded ones too
			known, unknown := s.terms(engine.Query{Expr: &leaf, QueryFields: asked.QueryFields})
			terms = append(append(terms, known...), unknown...)
		}
		_, conjunction = simplified.Conjunction(nil)
		conjunction = conjunction && !not
	} else if asked.Text != "" {
		terms, _, _ = x.WeightedTerms(asked)
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
			method = x.ExplainList(s.why.Processor, plan.Auto, h)
		}
		e.Lists = append(e.Lists, List{t, l.Len, l.Codec.String(), method})
	}
	e.orderLists()
	if len(e.Lists) > 0 && conjunction {
		e.Lists[0].Method = "its documents are looked up in the other lists"
	}
}

// rankedLists describes the lists of a ranked query with their weights: the maximum that
// a term adds to a score.
func (e *Explanation) rankedLists(s *Searcher, asked engine.Query) {
	terms, weights, _ := s.Index.WeightedTerms(asked) // the query was answered, so there is no error
	sum := map[string]float64{}
	for i, t := range terms {
		sum[t] += weights[i]
	}
	for _, t := range slices.Sorted(maps.Keys(sum)) {
		h, ok := s.Index.File().Lookup(t)
		if !ok {
			e.Unknown = append(e.Unknown, t)
			continue
		}
		l, weight := s.Index.Source().Lists[h], sum[t]
		if p := s.Query.Scoring; p != nil {
			st, df := s.Index.Statistics(), uint64(l.Len)
			if other := s.Query.Statistics; other != nil {
				st, df = *other, other.DF[t]
			}
			weight *= p.Weight(st.DocsOf(t), df)
		}
		e.Lists = append(e.Lists, List{t, l.Len, l.Codec.String(), fmt.Sprintf("weight %.4f", weight)})
	}
	e.orderLists()
}

// orderLists sorts the lists by length, ties by term, which is the order of execution.
func (e *Explanation) orderLists() {
	slices.SortStableFunc(e.Lists, func(a, b List) int { return cmp.Compare(a.Documents, b.Documents) })
}

func (e *Explanation) write(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "query %s: %s\n", terminal.Field(e.Query), terminal.Field(e.Text))
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "  backend\t%s: %s\n", e.Backend, e.Device)
	if e.Choice != "" {
		fmt.Fprintf(w, "  choice\t%s\n", e.Choice)
	}
	if e.Boolean != "" {
		fmt.Fprintf(w, "  boolean\t%s\n", terminal.Field(e.Boolean))
	}
	if e.Runs != "" {
		fmt.Fprintf(w, "  runs\t%s\n", e.Runs)
	}
	if e.Phrases != "" {
		fmt.Fprintf(w, "  phrases\t%s\n", e.Phrases)
	}
	if e.Filter != "" {
		fmt.Fprintf(w, "  filter\t%s\n", terminal.Field(e.Filter))
	}
	if e.Order != "" {
		fmt.Fprintf(w, "  order\t%s\n", terminal.Field(e.Order))
	}
	if e.Part {
		fmt.Fprint(w, "  part\tone work-group or thread per query\n")
	}
	for i, l := range e.Lists {
		step := "then"
		switch {
		case l.Method == asSet || e.Mode != "":
			step = "list"
		case i == 0:
			step = "first"
		}
		fmt.Fprintf(w, "  %s\t%s: %d documents, %s, %s\n", step, terminal.Field(l.Term), l.Documents, l.Codec, l.Method)
	}
	for _, t := range e.Unknown {
		fmt.Fprintf(w, "  unknown\t%s: in no document\n", terminal.Field(t))
	}
	label := "matches"
	if e.Mode != "" {
		mode := e.Mode
		switch {
		case e.Schedule != "": // it says so
		case e.Widened:
			mode += ": too few documents have all words, so the query ran again for any word"
		case mode == engine.AndOr.String() && e.Boolean == "":
			mode += ": enough documents have all words"
		}
		fmt.Fprintf(w, "  mode\t%s\n", mode)
		label = "best"
	}
	fmt.Fprintf(w, "  %s\t%d documents in %.1f µs\n", label, e.Matches, e.Micros)
	if e.Blocks > 0 {
		fmt.Fprintf(w, "  decoded\t%d blocks of compressed lists\n", e.Blocks)
	}
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
