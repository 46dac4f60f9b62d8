package answer

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/index/hdl"
	"heddle/engine/index/trec"
)

// Writer prints answers in one format.
type Writer struct {
	Out    *bufio.Writer
	Format string // "text", "tsv", "jsonl" or "trec"
	Count  bool   // print counts instead of documents
	Limit  int    // maximum of documents per query; negative: no limit
	IDs    bool   // format text prints query IDs
	// StrictScores lowers a printed score to below the score before it, also as a float of 32
	// bits, so that programs that sort by score keep the order.
	StrictScores bool
	ExcludeSelf  bool // leave out the document whose name is the ID of the query

	// Bold shows the words of the query in snippets of format text in bold, for a terminal. Default: false, between stars.
	Bold bool

	tag  string // name of the run in format trec
	line []byte

	names map[string]string // names of the documents of a query of a run, by their names in the run
	equal int               // documents of a run with the name of another one of their query
	first string            // the first of them
}

// note notes a document of a run that has the name of another one of its query: equal names, or names that
// become equal, such as "a b" and "a_b".
func (w *Writer) note(id, name string) {
	written := RunName(name)
	if other, found := w.names[written]; found {
		if w.equal++; w.equal == 1 {
			w.first = fmt.Sprintf("query %s: %q and %q", id, other, name)
		}
	}
	w.names[written] = name
}

// Report warns about documents of a run that cannot be told apart.
func (w *Writer) Report(to io.Writer) error {
	if w.equal == 0 {
		return nil
	}
	_, err := fmt.Fprintf(to, "warning: %d documents of the run have the name of another one of the same query; the first: %s\n", w.equal, terminal.Field(w.first))
	return err
}

// Object is an answer in format jsonl. Its names are part of the command line's contract.
type Object struct {
	Query  string        `json:"query"`
	Text   string        `json:"text"`
	Count  *uint64       `json:"count,omitempty"` // nil: ranked
	Total  *engine.Total `json:"total,omitempty"` // nil: not asked for
	Docs   []string      `json:"docs,omitzero"`   // nil: counted
	Scores []float64     `json:"scores,omitzero"` // nil: not ranked
	// Documents are parts of Docs, if a flag asks for them.
	Documents []engine.Contents `json:"documents,omitempty"`
	After     string            `json:"after,omitempty"` // cursor of the next page, if --after asks for it
	Explain   *Explanation      `json:"explain,omitempty"`
	// Explanation is the explanation of a collection: a text with a part per segment.
	Explanation string `json:"explanation,omitempty"`
}

// found is the answer of a query.
type found struct {
	count  uint64
	total  engine.Total
	docs   int // documents
	scores []float64
	name   func(i int) (string, error) // name of document i, or its number if it has no name
	// documents are parts of the documents; nil if the query asks for none.
	documents []engine.Contents
	after     string // cursor of the next page; empty for none

	explanation string // explanation of a query on a collection
}

// foundIn is the answer of an index.
func foundIn(f *hdl.File, h engine.Hits) found {
	name := func(i int) (string, error) {
		name, err := f.DocName(h.Docs[i])
		return cmp.Or(name, strconv.FormatUint(uint64(h.Docs[i]), 10)), err
	}
	return found{h.Count, h.Total, len(h.Docs), h.Scores, name, h.Documents, h.After, ""}
}

// write prints one answer. Format jsonl includes the explanation.
func (w *Writer) write(q trec.Topic, asked engine.Query, h found, e *Explanation) error {
	if w.ExcludeSelf {
		var err error
		if h, err = h.without(q.ID); err != nil {
			return err
		}
	}
	if w.StrictScores {
		h.scores = strict(h.scores)
	}
	if w.Limit >= 0 {
		h.docs = min(h.docs, w.Limit)
		h.documents = h.documents[:min(h.docs, len(h.documents))]
	}
	switch {
	case w.Format == "jsonl":
		o := Object{Query: q.ID, Text: q.Text, Scores: h.scores, Documents: h.documents, After: h.after, Explain: e, Explanation: h.explanation}
		if asked.Total > 0 {
			o.Total = &h.total
		} else if !(asked.K > 0) {
			o.Count = &h.count
		}
		if asked.K > 0 && o.Scores == nil {
			o.Scores = []float64{}
		}
		if !w.Count {
			o.Docs = make([]string, h.docs)
		}
		for i := range o.Docs {
			var err error
			if o.Docs[i], err = h.name(i); err != nil {
				return err
			}
		}
		return terminal.WriteJSON(w.Out, o)
	case w.Count:
		_, err := fmt.Fprintf(w.Out, "%s\t%d\n", terminal.Field(q.ID), h.count)
		return err
	case w.Format == "text" && (asked.K > 0):
		if err := w.writeText(q, h); err != nil {
			return err
		}
		return w.writeEnd(q, asked, h)
	}
	w.names = map[string]string{}
	for i := range h.docs {
		score := 1.0
		if asked.K > 0 {
			score = h.scores[i]
		}
		name, err := h.name(i)
		if err != nil {
			return err
		}
		if w.Format == "trec" {
			w.note(q.ID, name)
		}
		w.line = w.appendLine(w.line[:0], q.ID, i+1, name, score)
		if _, err := w.Out.Write(w.line); err != nil {
			return err
		}
	}
	return w.writeEnd(q, asked, h)
}

// without leaves out the document of that name.
func (h found) without(name string) (found, error) {
	for i := range h.docs {
		if n, err := h.name(i); err != nil {
			return found{}, err
		} else if n != name {
			continue
		}
		all := h
		behind := func(j int) int {
			if j >= i {
				return j + 1
			}
			return j
		}
		h.docs, h.count = h.docs-1, h.count-1
		if h.scores != nil {
			h.scores = slices.Delete(slices.Clone(h.scores), i, i+1)
		}
		h.name = func(j int) (string, error) { return all.name(behind(j)) }
		if h.documents != nil {
			h.documents = slices.Delete(slices.Clone(h.documents), i, i+1)
		}
		return h, nil
	}
	return h, nil
}

// writeEnd prints the total and the cursor of the next page in the formats text and tsv, if the query asks for them.
func (w *Writer) writeEnd(q trec.Topic, asked engine.Query, h found) error {
	w.line = w.line[:0]
	begin := func(name string) {
		if w.IDs || w.Format == "tsv" {
			w.line = append(append(w.line, terminal.Field(q.ID)...), '\t')
		}
		w.line = append(w.line, name...)
	}
	if asked.Total > 0 {
		begin("total\t")
		if w.line = strconv.AppendUint(w.line, h.total.Value, 10); !h.total.Exact {
			w.line = append(w.line, '+')
		}
		w.line = append(w.line, '\n')
	}
	if h.after != "" {
		begin("after\t")
		w.line = append(append(w.line, h.after...), '\n')
	}
	_, err := w.Out.Write(w.line)
	return err
}

// strict returns scores that strictly decrease as floats of 32 bits.
func strict(scores []float64) []float64 {
	scores = slices.Clone(scores)
	last := float32(math.Inf(1))
	for i, score := range scores {
		last = min(float32(score), math.Nextafter32(last, float32(math.Inf(-1))))
		scores[i] = float64(last)
	}
	return scores
}

// appendLine appends the line of one document in the formats trec and tsv, and in format
// text without scores.
func (w *Writer) appendLine(l []byte, id string, rank int, name string, score float64) []byte {
	if w.Format == "trec" {
		return trec.AppendLine(l, RunName(id), RunName(name), rank, score, w.tag)
	}
	if w.IDs || w.Format == "tsv" {
		l = append(append(l, terminal.Field(id)...), '\t')
	}
	if w.Format == "tsv" {
		l = append(strconv.AppendInt(l, int64(rank), 10), '\t')
	}
	l = append(l, terminal.Field(name)...)
	if w.Format == "tsv" {
		l = trec.AppendScore(append(l, '\t'), score)
	}
	return append(l, '\n')
}

// RunName is the name of a query or document in a run, in which names such as "a b" and "a_b" become equal.
func RunName(name string) string { return terminal.Field(trec.Field(name)) }

// writeText prints ranked documents for people, with the parts that the query asks for.
func (w *Writer) writeText(q trec.Topic, h found) error {
	if w.IDs {
		fmt.Fprintf(w.Out, "query %s\n", terminal.Field(strings.TrimSuffix(q.ID+": "+q.Text, ": ")))
	}
	for i := range h.docs {
		name, err := h.name(i)
		if err != nil {
			return err
		}
		fmt.Fprintf(w.Out, "%3d  %9.4f  %s\n", i+1, h.scores[i], terminal.Field(name))
		if h.documents == nil {
			continue
		}
		d := &h.documents[i]
		for _, part := range []string{w.snippet(d.Snippet), terminal.Field(string(d.Members)), terminal.Field(string(d.Source)), terminal.Field(string(d.Attributes))} {
			if part != "" {
				fmt.Fprintf(w.Out, "     %s\n", part)
			}
		}
	}
	_, err := w.Out.Write(nil) // returns the first error of the lines above
	return err
}
