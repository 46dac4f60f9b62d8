package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"

	"heddle/engine"
	"heddle/engine/boolean"
	"heddle/engine/hdl"
	"heddle/engine/plan"
	"heddle/engine/trec"
)

// searcher answers queries and writes the answers in their order.
type searcher struct {
	x       *engine.Index
	opt     engine.SearchOptions
	out     *answerWriter
	explain io.Writer // nil: nothing to explain
	path    string    // of the queries
	boolean bool      // queries are expressions

	batch   []engine.Query
	results plan.Results
}

// answer answers queries in batches, or one at a time if each is to be
// explained, because a batch has one time for all of them.
func (s *searcher) answer(ctx context.Context, qs []trec.Topic) error {
	if s.explain != nil {
		for _, q := range qs {
			if err := s.answerExplained(ctx, q); err != nil {
				return err
			}
		}
		return s.out.out.Flush()
	}
	s.batch = s.batch[:0]
	for _, q := range qs {
		asked, err := s.query(q)
		if err != nil {
			return err
		}
		s.batch = append(s.batch, asked)
	}
	if err := s.x.SearchMany(ctx, s.batch, s.opt, &s.results); err != nil {
		return err
	}
	for i, q := range qs {
		var docs []uint32
		if !s.opt.CountOnly {
			docs = s.results.Query(i)
		}
		if err := s.out.write(q, s.results.Count(i), docs, nil); err != nil {
			return err
		}
	}
	return s.out.out.Flush()
}

// query is what q asks of the engine.
func (s *searcher) query(q trec.Topic) (engine.Query, error) {
	if !s.boolean {
		return engine.Query{Text: q.Text}, nil
	}
	e, err := boolean.Parse(q.Text)
	if err != nil {
		return engine.Query{}, &trec.Error{Path: s.path, Line: q.Line, Err: err}
	}
	return engine.Query{Expr: &e}, nil
}

func (s *searcher) answerExplained(ctx context.Context, q trec.Topic) error {
	asked, err := s.query(q)
	if err != nil {
		return err
	}
	got, err := s.x.Search(ctx, asked, s.opt)
	if err != nil {
		return err
	}
	e := explain(s.x, q, asked, s.opt, got)
	if s.out.format == "jsonl" {
		return s.out.write(q, got.Count, got.Docs, e)
	}
	// Keep the two streams in step where they end on one terminal.
	if err := s.out.out.Flush(); err != nil {
		return err
	}
	if err := e.write(s.explain); err != nil {
		return err
	}
	return s.out.write(q, got.Count, got.Docs, nil)
}

// answerWriter writes answers in one format. Names are those of file.
type answerWriter struct {
	out    *bufio.Writer
	file   *hdl.File
	format string
	count  bool
	limit  int  // documents a query; below 0: all
	ids    bool // format text begins with the query's ID

	line []byte
}

// answerObject is an answer in format jsonl.
type answerObject struct {
	Query   string       `json:"query"`
	Text    string       `json:"text"`
	Count   uint64       `json:"count"`
	Docs    []string     `json:"docs,omitempty"`
	Explain *explanation `json:"explain,omitempty"`
}

// write writes one answer; e is for format jsonl only.
func (w *answerWriter) write(q trec.Topic, count uint64, docs []uint32, e *explanation) error {
	if w.limit >= 0 && len(docs) > w.limit {
		docs = docs[:w.limit]
	}
	switch {
	case w.format == "jsonl":
		o := answerObject{Query: q.ID, Text: q.Text, Count: count, Explain: e}
		for _, d := range docs {
			o.Docs = append(o.Docs, docName(w.file, d))
		}
		return writeJSON(w.out, o)
	case w.count:
		_, err := fmt.Fprintf(w.out, "%s\t%d\n", field(q.ID), count)
		return err
	}
	id := field(q.ID)
	for i, d := range docs {
		l := w.line[:0]
		if w.ids || w.format == "tsv" {
			l = append(append(l, id...), '\t')
		}
		if w.format == "tsv" {
			l = append(strconv.AppendInt(l, int64(i+1), 10), '\t')
		}
		l = append(l, field(docName(w.file, d))...)
		if w.format == "tsv" {
			l = append(l, "\t1"...)
		}
		w.line = append(l, '\n')
		if _, err := w.out.Write(w.line); err != nil {
			return err
		}
	}
	return nil
}
