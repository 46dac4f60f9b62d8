package answer

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/plan"
)

// header lists the settings that reproduce a run, in order.
type header []setting

type setting struct {
	name  string
	value any
}

// Run describes a ranked run.
type Run struct {
	Version, Revision string // version and revision of this program
	Statistics        string // file of collection statistics; "" for the index's own
	NoHeader          bool   // print no header
}

// Begin prepares the Searcher for ranked answers: it prints the header of the run, in
// format trec to stderr.
func (s *Searcher) Begin(r Run, stderr io.Writer) error {
	s.Query.Fields = s.Writer.fields(s.Query.Fields, s.Index)
	return s.Writer.begin(s.header(r), r.NoHeader, stderr)
}

// begin prints the header of a run, unless none is set.
func (w *Writer) begin(h header, none bool, stderr io.Writer) (err error) {
	w.tag = h.tag()
	if none {
		return nil
	}
	switch w.Format {
	case "jsonl":
		run := map[string]any{}
		for _, s := range h {
			run[s.name] = s.value
		}
		return terminal.WriteJSON(w.Out, map[string]any{"run": run})
	case "trec": // a run file has no comments
		_, err = fmt.Fprintf(stderr, "# heddle%s\n", h)
		return err
	}
	_, err = fmt.Fprintf(w.Out, "# heddle%s\n", h)
	return err
}

func (s *Searcher) header(r Run) header {
	f, backend := s.Index.File(), s.backend("")
	h := r.header(&s.Query, &s.Writer)
	if s.Query.Scoring == nil {
		m := f.Meta().Impacts
		h = append(h, setting{"impacts", m.Bits}, setting{"scale", m.Scale}, setting{"variant", cmp.Or(m.Variant, m.Origin)})
		if m.Variant != "" {
			h = append(h, setting{"k1", m.K1}, setting{"b", m.B})
		}
	}
	if r.Statistics != "" {
		h = append(h, setting{"statistics", r.Statistics})
	}
	return append(h, setting{"index", f.Path()}, setting{"checksum", fmt.Sprintf("%016x", f.Checksum())},
		setting{"backend", backend.Kind}, setting{"device", backend.Device})
}

// header lists the settings that do not depend on an index.
func (r *Run) header(q *engine.Query, w *Writer) header {
	h := header{{"version", r.Version}}
	if r.Revision != "" {
		h = append(h, setting{"revision", r.Revision})
	}
	h = append(h, setting{"mode", q.Match.String()}, setting{"k", w.Limit})
	if w.StrictScores {
		h = append(h, setting{"strict_scores", true})
	}
	if w.ExcludeSelf {
		h = append(h, setting{"exclude_self", true})
	}
	if len(q.Sort) > 0 {
		h = append(h, setting{"sort", strings.Join(q.Sort, ",")})
	}
	if q.MinScore > 0 {
		h = append(h, setting{"min_score", q.MinScore})
	}
	if q.Collapse != "" {
		h = append(h, setting{"collapse", q.Collapse}, setting{"collapse_limit", max(q.CollapseLimit, 1)})
	}
	if b := q.Boost; b != nil {
		h = append(h, setting{"boost", fmt.Sprint(b.Column, " ", b.From, " ", b.To, " ", b.Weight)})
	}
	if p := q.Scoring; p != nil {
		h = append(h, setting{"variant", p.Variant.String()}, setting{"k1", p.K1}, setting{"b", p.B})
	}
	return h
}

// String joins the settings as NAME=VALUE. Values with spaces are quoted.
func (h header) String() string {
	var b strings.Builder
	for _, s := range h {
		value := fmt.Sprint(s.value)
		if quoted := fmt.Sprintf("%q", value); strings.ContainsAny(quoted, ` \`) || value == "" {
			value = quoted
		}
		fmt.Fprintf(&b, " %s=%s", s.name, value)
	}
	return b.String()
}

// tag names the run in a run file, as in heddle-or-10-lucene-0.9-0.4. It contains the
// settings of the ranking, not the machine and the index.
func (h header) tag() string {
	tag := "heddle"
	for _, s := range h {
		switch s.name {
		case "mode", "k", "impacts", "variant", "k1", "b":
			tag += fmt.Sprintf("-%v", s.value)
		}
	}
	return tag
}

// backend describes the processor of a name with the lists, the first one that is no
// reserve for an empty name.
func (s *Searcher) backend(name string) plan.Info {
	all := s.Index.Info().Resident
	for _, r := range all {
		if r.Processor == name || name == "" && !r.Reserve {
			return r.Info
		}
	}
	if len(all) > 0 {
		return all[0].Info
	}
	return plan.Info{}
}
