//go:build cgo

package main

// #include "const.h"
import "C"

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"heddle/engine/failure"
	"heddle/engine/index/analyze"
	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
	"heddle/engine/index/trec"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/read/csv"
)

// within runs work that needs no handle, within limits.
func within(c *C.const_control, e *C.heddle_error, work func(context.Context) error) C.int32_t {
	return call(e, func() error {
		ctx, done, err := limits(c)
		if err != nil {
			return err
		}
		defer done()
		return work(ctx)
	})
}

// indexSettings are the settings of a build in JSON.
type indexSettings struct {
	Format    string   `json:"format"`
	Text      []string `json:"text"`
	Fields    []string `json:"fields"`
	ID        string   `json:"id"`
	Fold      bool     `json:"fold"`
	Stem      string   `json:"stem"`
	StopWords []string `json:"stop_words"`
	Store     string   `json:"store"`
	Positions bool     `json:"positions"`
	Impacts   uint8    `json:"impacts"`
	Memory    uint64   `json:"memory"`
}

// check refuses settings that no build has.
func (s *indexSettings) check() error {
	if _, err := build.ParseFormat(cmp.Or(s.Format, string(build.Auto))); err != nil {
		return err
	}
	switch {
	case s.Impacts != 0 && s.Impacts != 8 && s.Impacts != 16:
		return fmt.Errorf("impacts of %d bits; possible are 8 and 16", s.Impacts)
	case s.Store != "" && s.Store != hdl.StoreText && s.Store != hdl.StoreSource:
		return fmt.Errorf("store %q is none of %s and %s", s.Store, hdl.StoreText, hdl.StoreSource)
	case len(s.Fields) > 0 && len(s.Text) > 0:
		return errors.New("text and fields: the fields are the text")
	}
	_, err := analyze.New(analyze.Settings{Stemmer: s.Stem, StopWords: s.StopWords})
	return err
}

// heddle_index_build builds an index file from files of documents. `settings` may be NULL: JSON with the members
// format ("text", "jsonl", "trec", "warc", "pisa", "ciff"), text, fields, id, fold, stem, stop_words, store ("text",
// "source"), positions (true for phrases), impacts (8 or 16 bits) and memory (bytes), each of which may be absent.
// `summary` receives JSON.
//
//export heddle_index_build
func heddle_index_build(path *C.const_char, inputs *C.const_text, count C.uint64_t, settings *C.const_char, summary *C.heddle_bytes, control *C.const_control, fault *C.heddle_error) C.int32_t {
	return within(control, fault, func(ctx context.Context) error {
		files, err := paths(inputs, count)
		if err != nil {
			return err
		}
		if path == nil || summary == nil {
			return invalid("path and summary must not be NULL")
		}
		var s indexSettings
		if settings != nil {
			if err := parse(text(settings), &s); err != nil {
				return err
			}
		}
		if err := s.check(); err != nil {
			return invalid("settings: %v", err)
		}
		opt := build.DefaultOptions()
		if s.Format != "" {
			opt.Format = build.Format(s.Format)
		}
		opt.Text, opt.Fields, opt.ID, opt.Fold, opt.Stem, opt.StopWords = s.Text, s.Fields, s.ID, s.Fold, s.Stem, s.StopWords
		if s.Store != "" {
			opt.Store = s.Store
		}
		opt.Positions, opt.Impacts, opt.Creator = s.Positions, s.Impacts, "heddle "+version
		if s.Memory > 0 {
			opt.MemoryLimit = s.Memory
		}
		made, err := build.Build(ctx, text(path), files, opt)
		if err != nil {
			return failure.Wrap("build index", err)
		}
		return giveJSON(summary, map[string]any{
			"documents": made.Documents, "terms": made.Terms, "postings": made.Postings, "tokens": made.Tokens,
			"bytes": made.FileBytes, "warnings": append([]string{}, made.Warnings...),
		})
	})
}

// heddle_table_build builds a table file from CSV files, compressed or not. `rows` receives the number of rows, and
// may be NULL.
//
//export heddle_table_build
func heddle_table_build(path *C.const_char, inputs *C.const_text, count C.uint64_t, rows *C.uint64_t, control *C.const_control, fault *C.heddle_error) C.int32_t {
	return within(control, fault, func(ctx context.Context) error {
		files, err := paths(inputs, count)
		if err != nil {
			return err
		}
		if path == nil {
			return invalid("path is NULL")
		}
		source, err := csv.Open(ctx, files, csv.Options{})
		if err != nil {
			return failure.Wrap("build table", err)
		}
		defer source.Close()
		made, err := tablebuild.Build(ctx, source, text(path), tablebuild.Options{Creator: "heddle " + version})
		if err == nil && rows != nil {
			*rows = C.uint64_t(made.Rows)
		}
		return failure.Wrap("build table", err)
	})
}

func paths(inputs *C.const_text, count C.uint64_t) (all []string, err error) {
	if inputs == nil || count == 0 || count > math.MaxInt32 {
		return nil, invalid("inputs is NULL or empty")
	}
	for i, p := range array[*C.const_char](inputs, uint64(count)) {
		if p == nil {
			return nil, invalid("inputs[%d] is NULL", i)
		}
		all = append(all, text(p))
	}
	return all, nil
}

func giveJSON(to *C.heddle_bytes, value any) error {
	encoded, err := json.Marshal(value)
	if err == nil {
		give(to, encoded)
	}
	return err
}

// evaluation are the settings of heddle_evaluate in JSON.
type evaluation struct {
	Measures []string `json:"measures"`
	Cutoffs  []int    `json:"cutoffs"`
	Level    int      `json:"level"`
	Complete bool     `json:"complete"`
}

// heddle_evaluate computes the measures of trec_eval. `run` and `qrels` are the contents of the files. `settings` may be
// NULL: JSON with the members measures (["map", "nDCG@10"]), cutoffs, level and complete, as of heddle eval. `report`
// receives JSON: {"all": {MEASURE: VALUE}, "queries": {QUERY: {MEASURE: VALUE}}, "missing": […], "unjudged": […]}.
//
//export heddle_evaluate
func heddle_evaluate(run *C.const_char, run_size C.uint64_t, qrels *C.const_char, qrels_size C.uint64_t, settings *C.const_char, report *C.heddle_bytes, fault *C.heddle_error) C.int32_t {
	return call(fault, func() error {
		if run == nil || qrels == nil || report == nil || run_size > math.MaxInt64 || qrels_size > math.MaxInt64 {
			return invalid("run, qrels and report must not be NULL")
		}
		var s evaluation
		if settings != nil {
			if err := parse(text(settings), &s); err != nil {
				return err
			}
		}
		retrieved, err := trec.ReadRun("run", bytes.NewReader(array[byte](run, uint64(run_size))))
		if err != nil {
			return invalid("%v", err)
		}
		judged, err := trec.ReadQrels("qrels", bytes.NewReader(array[byte](qrels, uint64(qrels_size))))
		if err != nil {
			return invalid("%v", err)
		}
		r, err := trec.Evaluate(retrieved, judged, trec.Options{Measures: s.Measures, Cutoffs: s.Cutoffs, Level: s.Level, Complete: s.Complete})
		if err != nil {
			return invalid("%v", err)
		}
		queries := map[string]any{}
		for i := range r.Queries {
			queries[r.Queries[i].Query] = measuresOf(r, &r.Queries[i])
		}
		return giveJSON(report, map[string]any{
			"all": measuresOf(r, &r.All), "queries": queries,
			"missing": append([]string{}, r.Missing...), "unjudged": append([]string{}, r.Unjudged...),
		})
	})
}

// measuresOf are the values by their names. A value that is no number is null.
func measuresOf(r *trec.Report, m *trec.Measures) map[string]any {
	all := map[string]any{}
	for _, v := range r.Values(m) {
		switch {
		case v.Text != "":
			all[v.Name] = v.Text
		case math.IsNaN(v.Value):
			all[v.Name] = nil
		default:
			all[v.Name] = v.Value
		}
	}
	return all
}

// heddle_topics reads the content of a file of topics. `format` is "tsv", "trec", "jsonl", "car", "plain" or "auto"; NULL
// is "auto". `topics` receives JSON: [{"id": …, "text": …}], or {"id": …, "terms": […], "weights": […]} for a vector.
//
//export heddle_topics
func heddle_topics(file *C.const_char, size C.uint64_t, format *C.const_char, topics *C.heddle_bytes, fault *C.heddle_error) C.int32_t {
	return call(fault, func() error {
		if file == nil || topics == nil || size > math.MaxInt64 {
			return invalid("file and topics must not be NULL")
		}
		form := trec.Auto
		if format != nil {
			var err error
			if form, err = trec.ParseFormat(text(format)); err != nil {
				return invalid("%v", err)
			}
		}
		type topic struct {
			ID      string    `json:"id"`
			Text    string    `json:"text,omitempty"`
			Terms   []string  `json:"terms,omitempty"`
			Weights []float64 `json:"weights,omitempty"`
		}
		all := []topic{}
		var wrong error
		err := trec.ReadTopics("topics", bytes.NewReader(array[byte](file, uint64(size))), trec.Reading{Format: form}, func(t trec.Topic) bool {
			if wrong = t.Err; wrong == nil {
				all = append(all, topic{t.ID, t.Text, t.Terms, t.Weights})
			}
			return wrong == nil
		})
		if wrong != nil {
			err = wrong
		}
		if err != nil {
			return invalid("%v", err)
		}
		return giveJSON(topics, all)
	})
}
