package rank

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/index/hdl"
	"heddle/engine/plan"
)

// textExhibit ranks real text, with another library beside heddle.
func (s *bench) textExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "text", Title: "Ranked queries on real collections, top-10",
		Ours: "Queries are topics of the TREC Terabyte efficiency task whose terms, two or more, all occur in the collection: each set of terms once, drawn at random. BM25 with k1 1.2, b 0.75, the only parameters of bleve (bleve/v2, scorch, one segment, BM25). Both get the terms that our analysis made of documents and queries. Bleve, in turns with each row, runs on as many threads; ratios are ours to its, of times the inverse. It multiplies the score of an OR by the share of the terms that match, so its best documents are others there; of an AND they are the same, but for equal scores.",
		Rows: "mode",
		Run: func(ctx context.Context) error {
			paths, err := harness.RealFiles(s.Opt.Real, "*.tsv.gz")
			if err != nil {
				return err
			}
			topics, err := ReadTopics(s.Opt.Real)
			if err != nil {
				return err
			}
			if len(paths) == 0 || len(topics) == 0 {
				s.Logf("text left out: no folder with collections and topics was given")
				return nil
			}
			for _, path := range paths {
				if err := s.collection(ctx, path, topics); err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
			}
			return nil
		},
	}
}

// collection measures one collection.
func (s *bench) collection(ctx context.Context, path string, topics []string) error {
	dir, err := os.MkdirTemp("", "heddle-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := s.Want(ctx, path, func(n int) (*Workload, error) { return Text(ctx, dir, path, topics, n, s.Opt.Seed) }); err != nil {
		return err
	}
	if s.other != nil {
		if err := s.wantPeer(ctx, dir); err != nil {
			return errors.Join(err, s.Forget())
		}
	}
	return errors.Join(s.putText(ctx), s.Forget())
}

// wantPeer gives the other library the terms of every document, from the inverted
// lists. Terms of a document have no order.
func (s *bench) wantPeer(ctx context.Context, dir string) (err error) {
	f, ok := s.W.Dict.(*hdl.File)
	if !ok {
		return errors.New("the peer ranks indices of files only")
	}
	texts := make([][]byte, f.Docs())
	var docs, freqs []uint32
	for h, l := range s.W.Source.Lists {
		if docs, err = s.W.Source.List(plan.Handle(h)).AppendTo(docs[:0]); err == nil {
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
	s.Logf("indexing %d documents with %s", len(texts), s.other.Name)
	s.peer, err = s.other.Open(ctx, dir, len(texts), func(doc int) string { return string(texts[doc]) }, s.W.Params.K1, s.W.Params.B)
	return err
}

// putText measures OR and AND on every contestant, and also pure Go on one thread.
func (s *bench) putText(ctx context.Context) error {
	for _, who := range s.Contestants {
		threads := []int{s.Opt.Threads}
		if who.Name == "host" && s.Opt.Threads > 1 {
			threads = append(threads, 1)
		}
		for _, n := range threads {
			setups := []setup{{who.Name, n, plan.RangeAccumulators, workload.Or, 10}, {who.Name, n, plan.RangeAccumulators, workload.And, 10}}
			costs, err := s.measure(ctx, who, setups, harness.Busy, harness.Alone)
			if err != nil {
				return err
			}
			for _, c := range costs {
				at := c.mode.String() + measure.When(who.Name == "host" && n == 1, ", one thread")
				if s.peer != nil && n > 1 {
					if err := s.putCommon(ctx, who, c); err != nil {
						return err
					}
				}
				for _, m := range []struct {
					metric, unit string
					own, peer    measure.Summary
				}{
					{"throughput", "queries/s", c.rate, c.peerRate},
					{"p50", "ms", c.one.p50, c.peerOne.p50},
					{"p99", "ms", c.one.p99, c.peerOne.p99},
				} {
					row := measure.Row{Row: at, Metric: m.metric, Unit: m.unit}
					if m.peer.Runs > 0 {
						row.Baseline, row.Ratio = s.other.Name, m.own.Median/m.peer.Median
						if m.unit == "ms" {
							row.Ratio = 1 / row.Ratio
						}
						beside := harness.Reading{Panel: fmt.Sprintf("%s, %s", s.W.Name, who), Series: s.other.Name + " " + m.metric + ", " + m.unit, At: at,
							Row: m.peer.Into(measure.Row{Workload: s.W.Name, Row: s.other.Name + " beside " + at + " on " + who.Name, Metric: m.metric, Unit: m.unit})}
						s.Put(beside)
					}
					s.reading(who, harness.Reading{Series: m.metric + ", " + m.unit, At: at, Row: m.own.Into(row)})
				}
			}
		}
	}
	return nil
}

// putCommon records the fraction of heddle's best documents that the other library also
// returns. Its scores are rounded differently.
func (s *bench) putCommon(ctx context.Context, who harness.Contestant, c *cost) error {
	x, err := s.index(ctx, who, c.threads, harness.Busy)
	if err != nil {
		return err
	}
	common, all := 0, 0
	for i := range c.queries {
		q := s.W.Queries[i]
		ours, err := x.RankOne(ctx, q, s.options(c.setup))
		if err != nil {
			return err
		}
		theirs, err := s.peer.Rank(ctx, q.Terms, c.mode, c.k)
		if err != nil {
			return err
		}
		for _, d := range ours {
			if slices.Contains(theirs, d) {
				common++
			}
		}
		all += len(ours)
	}
	share := measure.Single(100 * float64(common) / float64(max(all, 1)))
	s.reading(who, harness.Reading{Series: "in common, %", At: c.mode.String(), Row: share.Into(measure.Row{Row: c.name(), Metric: "documents in common with " + s.other.Name, Unit: "%"})})
	return nil
}
