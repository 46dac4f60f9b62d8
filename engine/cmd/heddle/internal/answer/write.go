package answer

import (
	"bufio"
	"fmt"
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

	file     *hdl.File // names and texts of documents
	tag      string    // of format trec
	snippets *snippets // of format text; nil: the index stores no texts
	line     []byte
}

// Object is an answer in format jsonl. Its names are part of the command line's contract.
type Object struct {
	Query   string       `json:"query"`
	Text    string       `json:"text"`
	Count   *uint64      `json:"count,omitempty"` // nil: ranked
	Docs    []string     `json:"docs,omitempty"`
	Scores  []float64    `json:"scores,omitempty"`
	Explain *Explanation `json:"explain,omitempty"`
}

// name is the name of a document, or its docID if it has no name.
func (w *Writer) name(d uint32) string {
	if name := w.file.DocName(d); name != "" {
		return name
	}
	return strconv.FormatUint(uint64(d), 10)
}

// write prints one answer. Format jsonl includes the explanation.
func (w *Writer) write(q trec.Topic, asked engine.Query, h engine.Hits, e *Explanation) error {
	if w.Limit >= 0 && len(h.Docs) > w.Limit {
		h.Docs = h.Docs[:w.Limit]
	}
	switch {
	case w.Format == "jsonl":
		o := Object{Query: q.ID, Text: q.Text, Scores: h.Scores, Explain: e}
		if !(asked.K > 0) {
			o.Count = &h.Count
		}
		for _, d := range h.Docs {
			o.Docs = append(o.Docs, w.name(d))
		}
		return terminal.WriteJSON(w.Out, o)
	case w.Count:
		_, err := fmt.Fprintf(w.Out, "%s\t%d\n", terminal.Field(q.ID), h.Count)
		return err
	case w.Format == "text" && (asked.K > 0):
		return w.writeText(q, asked, h)
	}
	for i, d := range h.Docs {
		score := 1.0
		if asked.K > 0 {
			score = h.Scores[i]
		}
		w.line = w.appendLine(w.line[:0], q.ID, i+1, w.name(d), score)
		if _, err := w.Out.Write(w.line); err != nil {
			return err
		}
	}
	return nil
}

// appendLine appends the line of one document in the formats trec and tsv, and in format
// text without scores.
func (w *Writer) appendLine(l []byte, id string, rank int, name string, score float64) []byte {
	if w.Format == "trec" {
		return trec.AppendLine(l, terminal.Field(underlined(id)), terminal.Field(underlined(name)), rank, score, w.tag)
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

// underlined replaces white space, as trec.AppendLine does, before it is escaped.
func underlined(s string) string {
	return strings.Map(func(r rune) rune {
		if '\t' <= r && r <= '\r' {
			return '_'
		}
		return r
	}, s)
}

// writeText prints ranked documents for people, with snippets.
func (w *Writer) writeText(q trec.Topic, asked engine.Query, h engine.Hits) error {
	if w.IDs {
		fmt.Fprintf(w.Out, "query %s\n", terminal.Field(strings.TrimSuffix(q.ID+": "+q.Text, ": ")))
	}
	if w.snippets != nil {
		if err := w.snippets.setQuery(asked); err != nil {
			return err
		}
	}
	for i, d := range h.Docs {
		fmt.Fprintf(w.Out, "%3d  %9.4f  %s\n", i+1, h.Scores[i], terminal.Field(w.name(d)))
		if w.snippets == nil {
			continue
		}
		text, err := w.file.Text(d)
		if err != nil {
			return err
		}
		if part := w.snippets.of(text); part != "" {
			fmt.Fprintf(w.Out, "     %s\n", part)
		}
	}
	_, err := w.Out.Write(nil) // returns the first error of the lines above
	return err
}
