package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"heddle/engine/cmd/heddle/internal/answer"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/cmd/heddle/internal/topics"
	"heddle/engine/cmd/heddle/internal/workload"
	"heddle/engine/index/trec"
	"heddle/engine/internal/query"
)

// queries are the flags that give one query on the command line or a file of queries.
type queries struct {
	text, file string
	reading    trec.Reading
	given      struct{ text, file func() bool }
	stderr     io.Writer // receives errors of queries of a file
	failed     int       // queries of a file

	operators bool           // queries of a file are in the query language
	run       bool           // the answer is a run, in which IDs such as "a b" and "a_b" become equal
	lines     map[string]int // lines of the queries of a file, by their IDs
	again     int            // queries of a file with the ID of an earlier one
	first     string         // the first of them
	bare      bool           // a warning has named a sign or parenthesis that is text
}

// add adds two flags: flag text for one query, flag file for a file.
func (q *queries) add(fs *pflag.FlagSet, text, arg, textUsage, file, fileUsage string) {
	fs.StringVar(&q.text, text, "", textUsage+" `"+arg+"`")
	fs.StringVar(&q.file, file, "", fileUsage+" `FILE`; - is standard input")
	q.given.text = func() bool { return fs.Changed(text) }
	q.given.file = func() bool { return fs.Changed(file) }
}

// single reports whether the query comes from the command line.
func (q *queries) single() bool { return q.given.text() }

// validate checks that exactly one of the two flags is given, and the format.
func (q *queries) validate(text, file string) error {
	switch {
	case !q.given.text() && !q.given.file():
		return fmt.Errorf("--%s or --%s is missing", text, file)
	case q.given.text() && q.given.file():
		return fmt.Errorf("--%s and --%s exclude each other", text, file)
	}
	return checkReading(q.reading)
}

// addReading adds the flags that say how a query file is read.
func addReading(fs *pflag.FlagSet, r *trec.Reading) {
	fs.StringVar((*string)(&r.Format), "queries-format", string(trec.Auto), "`FORMAT`: auto, plain, tsv, trec, jsonl or car")
	fs.StringSliceVar(&r.Fields, "topic-field", nil, "`LIST` of elements of a topic that are its text, like title,desc")
}

func checkReading(r trec.Reading) error {
	if _, err := trec.ParseFormat(string(r.Format)); err != nil {
		return fmt.Errorf("--queries-format: %w", err)
	}
	return nil
}

// each calls answer with batches of at most ahead queries. The query of the command line
// has the ID 1. If invalid has reported queries, each returns an error at the end.
func (q *queries) each(ctx context.Context, a *App, ahead int, answer func(context.Context, []trec.Topic) error) error {
	if q.single() {
		if sign := query.NoteSign(q.text); q.operators && sign != "" {
			if _, err := fmt.Fprintf(a.Stderr, "warning: %s\n", sign); err != nil {
				return err
			}
		}
		return answer(ctx, []trec.Topic{{ID: "1", Text: q.text}})
	}
	q.stderr, q.lines = a.Stderr, map[string]int{}
	err := topics.File{Path: q.file, Reading: q.reading, Stdin: a.Stdin}.Each(ctx, ahead, func(ctx context.Context, all []trec.Topic) error {
		for _, t := range all {
			if err := q.look(t); err != nil {
				return err
			}
		}
		return answer(ctx, all)
	})
	if q.again > 0 {
		_, wrong := fmt.Fprintf(a.Stderr, "warning: %s: %d queries have the ID of an earlier one; the first: %s\n", q.file, q.again, q.first)
		err = errors.Join(err, wrong)
	}
	if err == nil && q.failed > 0 {
		err = fmt.Errorf("%s: invalid lines without an answer: %d", q.file, q.failed)
	}
	return err
}

// look notes a repeated ID, and warns of the first sign or parenthesis of a file that is no operator.
func (q *queries) look(t trec.Topic) (err error) {
	id := t.ID
	if q.run {
		id = answer.RunName(id)
	}
	if line, found := q.lines[id]; !found {
		q.lines[id] = t.Line
	} else if q.again++; q.again == 1 {
		q.first = fmt.Sprintf("%s on lines %d and %d", terminal.Field(id), line, t.Line)
	}
	if !q.operators || q.bare {
		return nil
	}
	if sign := query.NoteSign(t.Text); sign != "" {
		q.bare = true
		_, err = fmt.Fprintf(q.stderr, "warning: %s:%d: %s; the file may have more\n", q.file, t.Line, sign)
	}
	return err
}

// sample returns the queries, or the first ones of a large file.
func (q *queries) sample() workload.Queries {
	if q.single() {
		return workload.One(q.text)
	}
	return workload.Sample(q.file, q.reading)
}

// invalid reports the error of one query: a usage error for the command line. An error of a
// file goes to standard error with its line, and the other queries still run.
func (q *queries) invalid(t trec.Topic, err error) error {
	if q.single() {
		return usageError{err}
	}
	q.failed++
	_, err = fmt.Fprintln(q.stderr, message(context.Background(), &trec.Error{Path: q.file, Line: t.Line, Err: err}))
	return err
}
