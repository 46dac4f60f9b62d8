package main

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"heddle/engine"
	"heddle/engine/index/hdl"
	"heddle/engine/index/trec"
)

// answerWriter writes answers in one format. Names are those of file.
type answerWriter struct {
	out     *bufio.Writer
	file    *hdl.File
	format  string
	count   bool
	limit   int       // documents a query; below 0: all
	ids     bool      // queries come from a file, so format text names them
	tag     string    // of format trec
	snippet *snippets // of format text, where texts are stored; else nil

	line []byte
}

// answerObject is an answer in format jsonl.
type answerObject struct {
	Query   string       `json:"query"`
	Text    string       `json:"text"`
	Count   *uint64      `json:"count,omitempty"` // where nothing is ranked
	Docs    []string     `json:"docs,omitempty"`
	Scores  []float64    `json:"scores,omitempty"`
	Explain *explanation `json:"explain,omitempty"`
}

// write writes one answer; e is for format jsonl only.
func (w *answerWriter) write(q trec.Topic, asked engine.Query, a answer, e *explanation) error {
	if w.limit >= 0 && len(a.docs) > w.limit {
		a.docs = a.docs[:w.limit]
	}
	switch {
	case w.format == "jsonl":
		o := answerObject{Query: q.ID, Text: q.Text, Scores: a.scores, Explain: e}
		if !a.ranked {
			o.Count = &a.count
		}
		for _, d := range a.docs {
			o.Docs = append(o.Docs, docName(w.file, d))
		}
		return writeJSON(w.out, o)
	case w.count:
		_, err := fmt.Fprintf(w.out, "%s\t%d\n", field(q.ID), a.count)
		return err
	case w.format == "text" && a.ranked:
		return w.writeText(q, asked, a)
	}
	for i, d := range a.docs {
		score := 1.0
		if a.ranked {
			score = a.scores[i]
		}
		w.line = w.appendLine(w.line[:0], q.ID, i+1, docName(w.file, d), score)
		if _, err := w.out.Write(w.line); err != nil {
			return err
		}
	}
	return nil
}

// appendLine appends the line of a document in the formats trec and tsv, and in
// text if documents are not ranked.
func (w *answerWriter) appendLine(l []byte, id string, rank int, name string, score float64) []byte {
	if w.format == "trec" {
		return trec.AppendLine(l, id, name, rank, score, w.tag)
	}
	if w.ids || w.format == "tsv" {
		l = append(append(l, field(id)...), '\t')
	}
	if w.format == "tsv" {
		l = append(strconv.AppendInt(l, int64(rank), 10), '\t')
	}
	l = append(l, field(name)...)
	if w.format == "tsv" {
		l = trec.AppendScore(append(l, '\t'), score)
	}
	return append(l, '\n')
}

// writeText writes ranked documents for a person to read.
func (w *answerWriter) writeText(q trec.Topic, asked engine.Query, a answer) error {
	if w.ids {
		fmt.Fprintf(w.out, "query %s\n", printable(strings.TrimSuffix(q.ID+": "+q.Text, ": ")))
	}
	if w.snippet != nil {
		if err := w.snippet.ask(asked); err != nil {
			return err
		}
	}
	for i, d := range a.docs {
		fmt.Fprintf(w.out, "%3d  %9.4f  %s\n", i+1, a.scores[i], printable(docName(w.file, d)))
		if w.snippet == nil {
			continue
		}
		text, err := w.file.Text(d)
		if err != nil {
			return err
		}
		if part := w.snippet.of(text); part != "" {
			fmt.Fprintf(w.out, "     %s\n", part)
		}
	}
	_, err := w.out.Write(nil) // that of what was written so far
	return err
}
