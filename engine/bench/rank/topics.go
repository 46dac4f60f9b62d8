package rank

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/workload"
	"heddle/engine/index/bm25"
	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
	"heddle/engine/index/trec"
	"heddle/engine/plan"
)

// ReadTopics returns the texts of all topics of a folder.
func ReadTopics(folder string) (texts []string, err error) {
	paths, err := harness.RealFiles(folder, "topics.terabyte*.txt")
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		var wrong error
		err = trec.ReadTopics(path, f, trec.Reading{Format: trec.Auto}, func(t trec.Topic) bool {
			texts, wrong = append(texts, t.Text), t.Err
			return wrong == nil
		})
		if err = errors.Join(err, wrong, f.Close()); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// Text indexes a collection in a folder and draws n queries from the topics whose terms
// all occur.
func Text(ctx context.Context, dir, path string, topics []string, n int, seed uint64) (*Workload, error) {
	out := filepath.Join(dir, "index.hdl")
	opt := build.DefaultOptions()
	opt.Format, opt.Dense = build.Text, "never"
	if _, err := build.Build(ctx, out, []string{path}, opt); err != nil {
		return nil, err
	}
	f, err := hdl.Open(out)
	if err != nil {
		return nil, err
	}
	w := &Workload{Source: f.Source(), Dict: f, Params: bm25.Params{Variant: bm25.Lucene, K1: 1.2, B: 0.75}, release: f.Close}
	analyzer, err := f.Analyzer()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	tokens := analyzer.Tokenizer()
	seen := make(map[string]bool)
	for _, text := range topics {
		var terms []string
		var handles []plan.Handle
		for token := range tokens.Tokens([]byte(text)) {
			terms = append(terms, string(token.Term))
		}
		slices.Sort(terms)
		terms = slices.Compact(terms)
		for _, t := range terms {
			if h, ok := f.Lookup(t); ok {
				handles = append(handles, h)
			}
		}
		if key := strings.Join(terms, " "); len(terms) >= 2 && len(handles) == len(terms) && !seen[key] {
			seen[key] = true
			w.Queries = append(w.Queries, workload.Query{Terms: terms})
			w.Handles = append(w.Handles, handles)
		}
	}
	if len(w.Queries) == 0 {
		return nil, errors.Join(errors.New("no topic whose terms all occur"), f.Close())
	}
	w.Name = fmt.Sprintf("%s, %d documents, %d of %d topics", strings.TrimSuffix(filepath.Base(path), ".tsv.gz"), f.Docs(), len(w.Queries), len(topics))
	order := workload.NewRandom(seed, workload.StreamOrder, 1)
	perm := make([]int, len(w.Queries))
	for i := range perm {
		perm[i] = i
	}
	workload.Shuffle(order, perm)
	queries, handles := w.Queries, w.Handles
	w.Queries, w.Handles = nil, nil
	for _, i := range perm[:min(n, len(perm))] {
		w.Queries, w.Handles = append(w.Queries, queries[i]), append(w.Handles, handles[i])
	}
	return w, nil
}
