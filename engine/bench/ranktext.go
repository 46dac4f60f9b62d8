package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"heddle/engine"
	"heddle/engine/index/analyze"
	"heddle/engine/index/bm25"
	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
	"heddle/engine/index/trec"
	"heddle/engine/plan"
)

// textExhibit ranks real text, with another library beside.
func textExhibit() exhibit {
	return exhibit{
		name: "text", title: "Ranked queries on real collections, top-10",
		ours: "Queries are topics of the TREC Terabyte efficiency task whose terms, two or more, all occur in the collection: each set of terms once, drawn at random. BM25 with k1 1.2, b 0.75, the only parameters of bleve (" + bleveName + "/v2, scorch, one segment, BM25). Both get the terms that our analysis made of documents and queries. Bleve, in turns with each row, runs on as many threads; ratios are ours to its, of times the inverse. It multiplies the score of an OR by the share of the terms that match, so its best documents are others there; of an AND they are the same, but for equal scores.",
		rows: "mode",
		run: func(ctx context.Context, s *session) error {
			paths, err := s.realFiles("*.tsv.gz")
			if err != nil {
				return err
			}
			topics, err := s.topics()
			if err != nil {
				return err
			}
			if len(paths) == 0 || len(topics) == 0 {
				s.logf("text left out: no folder with collections and topics was given")
				return nil
			}
			for _, path := range paths {
				if err := s.rankText(ctx, path, topics); err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
			}
			return nil
		},
	}
}

// realFiles are the files of a pattern in the folder of real data, or one folder down.
func (s *session) realFiles(pattern string) (paths []string, err error) {
	if s.opt.Real == "" {
		return nil, nil
	}
	for _, dir := range []string{"", "*"} {
		found, err := filepath.Glob(filepath.Join(s.opt.Real, dir, pattern))
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	return paths, nil
}

// topics reads the texts of all topics.
func (s *session) topics() (texts []string, err error) {
	paths, err := s.realFiles("topics.terabyte*.txt")
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		err = trec.ReadTopics(path, f, trec.Auto, func(t trec.Topic) bool {
			texts = append(texts, t.Text)
			return true
		})
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// rankText measures one collection.
func (s *session) rankText(ctx context.Context, path string, topics []string) error {
	dir, err := os.MkdirTemp("", "heddle-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := s.rankBench(ctx, path, func(n int) (*ranked, error) { return textWork(ctx, dir, path, topics, n, s.opt.Seed) })
	if err != nil {
		return err
	}
	if newBlevePeer != nil {
		if err := b.wantPeer(ctx, dir); err != nil {
			return errors.Join(err, s.forgetRanked())
		}
	}
	return errors.Join(b.putText(ctx), s.forgetRanked())
}

// textWork indexes a collection in a folder and draws n queries from the topics.
func textWork(ctx context.Context, dir, path string, topics []string, n int, seed uint64) (*ranked, error) {
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
	w := &ranked{source: f.Source(), dict: f, params: bm25.Params{Variant: bm25.Lucene, K1: 1.2, B: 0.75}, release: f.Close}
	analyzer, err := analyze.New(f.Meta().Analysis)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	tokens := analyzer.Tokenizer()
	seen := make(map[string]bool)
	for _, text := range topics {
		var terms []string
		var handles []plan.Handle
		tokens.Each([]byte(text), func(term []byte) { terms = append(terms, string(term)) })
		slices.Sort(terms)
		terms = slices.Compact(terms)
		for _, t := range terms {
			if h, ok := f.Lookup(t); ok {
				handles = append(handles, h)
			}
		}
		if key := strings.Join(terms, " "); len(terms) >= 2 && len(handles) == len(terms) && !seen[key] {
			seen[key] = true
			w.queries = append(w.queries, engine.Query{Terms: terms})
			w.handles = append(w.handles, handles)
		}
	}
	if len(w.queries) == 0 {
		return nil, errors.Join(errors.New("no topic whose terms all occur"), f.Close())
	}
	w.name = fmt.Sprintf("%s, %d documents, %d of %d topics", strings.TrimSuffix(filepath.Base(path), ".tsv.gz"), f.Docs(), len(w.queries), len(topics))
	order := newRandom(seed, streamOrder, 1)
	perm := make([]int, len(w.queries))
	for i := range perm {
		perm[i] = i
	}
	shuffle(order, perm)
	queries, handles := w.queries, w.handles
	w.queries, w.handles = nil, nil
	for _, i := range perm[:min(n, len(perm))] {
		w.queries, w.handles = append(w.queries, queries[i]), append(w.handles, handles[i])
	}
	return w, nil
}

// wantPeer gives the peer the terms of every document, in no order: its lists are
// turned around.
func (b *rankBench) wantPeer(ctx context.Context, dir string) (err error) {
	f, ok := b.w.dict.(*hdl.File)
	if !ok {
		return errors.New("the peer ranks indices of files only")
	}
	texts := make([][]byte, f.Docs())
	var docs, freqs []uint32
	for h, l := range b.w.source.Lists {
		if docs, err = b.w.source.List(plan.Handle(h)).AppendTo(docs[:0]); err == nil {
			freqs, err = f.Freqs(freqs[:0], plan.Handle(h))
		}
		if err != nil {
			return err
		}
		term := append([]byte(f.Term(plan.Handle(h))), ' ')
		for i := range l.Len {
			for range freqs[i] {
				texts[docs[i]] = append(texts[docs[i]], term...)
			}
		}
	}
	b.s.logf("indexing %d documents with %s", len(texts), bleveName)
	b.peer, err = newBlevePeer(ctx, dir, len(texts), func(doc int) string { return string(texts[doc]) }, b.w.params.K1, b.w.params.B)
	return err
}

// putText measures OR and AND on every contestant, and pure Go on one thread too.
func (b *rankBench) putText(ctx context.Context) error {
	for _, who := range b.s.contestants {
		threads := []int{b.s.opt.Threads}
		if who.name == "host" && b.s.opt.Threads > 1 {
			threads = append(threads, 1)
		}
		for _, n := range threads {
			setups := []rankSetup{{who.name, n, plan.RangeAccumulators, engine.Or, 10}, {who.name, n, plan.RangeAccumulators, engine.And, 10}}
			costs, err := b.measure(ctx, who, setups, busy, alone)
			if err != nil {
				return err
			}
			for _, c := range costs {
				at := c.mode.String() + known(who.name == "host" && n == 1, ", one thread")
				if b.peer != nil && n > 1 {
					if err := b.putCommon(ctx, who, c); err != nil {
						return err
					}
				}
				for _, m := range []struct {
					metric, unit string
					own, peer    summary
				}{
					{"throughput", "queries/s", c.rate, c.peerRate},
					{"p50", "ms", c.one.p50, c.peerOne.p50},
					{"p99", "ms", c.one.p99, c.peerOne.p99},
				} {
					row := Row{Row: at, Metric: m.metric, Unit: m.unit}
					if m.peer.Runs > 0 {
						row.Baseline, row.Ratio = bleveName, m.own.Median/m.peer.Median
						if m.unit == "ms" {
							row.Ratio = 1 / row.Ratio
						}
						beside := reading{panel: fmt.Sprintf("%s, %s", b.w.name, who), series: bleveName + " " + m.metric + ", " + m.unit, at: at,
							Row: m.peer.into(Row{Workload: b.w.name, Row: bleveName + " beside " + at + " on " + who.name, Metric: m.metric, Unit: m.unit})}
						if err := b.s.put(beside); err != nil {
							return err
						}
					}
					if err := b.reading(who, reading{series: m.metric + ", " + m.unit, at: at, Row: m.own.into(row)}); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// putCommon records how many of our best documents are among those of the peer, whose
// scores are rounded otherwise.
func (b *rankBench) putCommon(ctx context.Context, who contestant, c *rankCost) error {
	x, err := b.index(ctx, who, c.threads, busy)
	if err != nil {
		return err
	}
	common, all := 0, 0
	for i := range c.queries {
		q := b.w.queries[i]
		ours, err := x.Rank(ctx, q, b.options(c.rankSetup))
		if err != nil {
			return err
		}
		theirs, err := b.peer.rank(ctx, q.Terms, c.mode, c.k)
		if err != nil {
			return err
		}
		for _, d := range ours.Docs {
			if slices.Contains(theirs, d) {
				common++
			}
		}
		all += len(ours.Docs)
	}
	share := single(100 * float64(common) / float64(max(all, 1)))
	return b.reading(who, reading{series: "in common, %", at: c.mode.String(), Row: share.into(Row{Row: c.name(), Metric: "documents in common with " + bleveName, Unit: "%"})})
}
