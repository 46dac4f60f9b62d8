// Package workload estimates the work of a short-lived command, before it opens a
// processor, for the choice between the host and a device.
package workload

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"slices"

	"heddle/engine/index/analyze"
	"heddle/engine/index/hdl"
	"heddle/engine/index/querylang"
	"heddle/engine/index/trec"
	"heddle/engine/internal/cost"
	"heddle/engine/internal/startup"
	"heddle/engine/internal/tables"
	"heddle/engine/plan"
)

// sampleBytes limits the part of a query file that is read for the estimate.
const sampleBytes = 64 << 10

// Queries are the queries of a command, or a sample of them.
type Queries struct {
	Topics []trec.Topic
	Scale  float64 // total number of queries over len(Topics)
}

// One is a single query.
func One(text string) Queries { return Queries{[]trec.Topic{{ID: "1", Text: text}}, 1} }

// Sample reads the beginning of a query file. The result is empty if the number of queries
// cannot be estimated: for standard input, a pipe, a compressed file, or an unreadable file.
func Sample(path string, reading trec.Reading) (q Queries) {
	if path == "-" {
		return q
	}
	info, err := os.Stat(path) // before Open, which waits for the writer of a pipe
	if err != nil || !info.Mode().IsRegular() {
		return q
	}
	f, err := os.Open(path)
	if err != nil {
		return q
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, sampleBytes))
	if err != nil {
		return q
	}
	if int64(len(head)) < info.Size() {
		head = head[:bytes.LastIndexByte(head, '\n')+1]
	}
	// An error in the file is reported when the queries run.
	_ = trec.ReadTopics(path, bytes.NewReader(head), reading, func(t trec.Topic) bool {
		if t.Err == nil {
			q.Topics = append(q.Topics, t)
		}
		return true
	})
	q.Scale = float64(info.Size()) / float64(max(len(head), 1))
	return q
}

// Search is a search command.
type Search struct {
	Path    string // index file
	Kind    cost.Kind
	Literal bool   // queries are text without operators
	Costs   string // cost model file; "" for the file beside the index
	Queries Queries
}

// Work estimates the command for the host and for a device with one name. An index that
// cannot be read gives no work; opening it reports the error.
func (s *Search) Work(device string) (w startup.Work, err error) {
	if len(s.Queries.Topics) == 0 {
		return w, nil
	}
	f, err := hdl.OpenTrusted(s.Path)
	if err != nil {
		return w, err
	}
	defer f.Close()
	a, err := f.Analyzer()
	if err != nil {
		return w, err
	}
	book, err := cost.Load(cmp.Or(s.Costs, s.Path+".cost"), f.Checksum(), cost.Best)
	if err != nil {
		book = cost.NewBook(f.Checksum(), cost.Best)
	}
	var features []cost.Features
	var lists []plan.Handle
	for _, q := range s.Queries.Topics {
		lists = lists[:0]
		for _, t := range s.terms(q, a) {
			if h, ok := f.Lookup(t); ok && !slices.Contains(lists, h) {
				lists = append(lists, h)
			}
		}
		src := f.Source()
		slices.SortFunc(lists, func(a, b plan.Handle) int { return cmp.Compare(src.Lists[a].Len, src.Lists[b].Len) })
		features = append(features, cost.Of(src, lists))
	}
	src := f.Source()
	words, freqs := src.Used()
	return startup.Queries(book, s.Kind, device, features, s.Queries.Scale, 4*(words+freqs)), nil
}

// terms returns the terms of a query without their weights.
func (s *Search) terms(q trec.Topic, a *analyze.Analyzer) []string {
	switch {
	case q.Terms != nil:
		return q.Terms
	case s.Literal:
		return a.Terms(q.Text)
	}
	var all []string
	_, err := querylang.EachWord(q.Text, func(part string, _ float64) error {
		all = append(all, a.Terms(part)...)
		return nil
	})
	if e, _ := querylang.Read(q.Text, querylang.Or); e != nil && err == nil {
		all = nil
		for leaf := range e.Leaves {
			all = append(all, a.Terms(leaf.Term)...)
		}
	}
	return all
}

// Select estimates the predicates of a command on the table file at path. Output is the
// form of the answers. A table that cannot be read gives no work.
func Select(path string, output plan.Output, q Queries) (w startup.Work, err error) {
	if len(q.Topics) == 0 {
		return w, nil
	}
	d, err := tables.Open(context.Background(), nil, path, true)
	if err != nil {
		return w, err
	}
	defer d.Close()
	var features []cost.Features
	for _, t := range q.Topics {
		p, err := d.Compile(t.Text)
		if err != nil {
			return w, err
		}
		p.Steps.Output = output
		features = append(features, cost.Features{Selection: d.Work(&p.Steps)})
	}
	return startup.Selections(features, q.Scale, 4*uint64(len(d.Table.Words32)+2*len(d.Table.Words64)+len(d.Table.Slices))), nil
}
