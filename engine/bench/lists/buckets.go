package lists

import (
	"context"
	"math"

	"heddle/codec"
	"heddle/engine/bench/chart"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// hashBits and bucketStep are the number of bits of the hash function in Figure 3, and the
// sizes of buckets that share a point.
const hashBits, bucketStep = 5, 16

func (s *bench) aoFigure3() harness.Exhibit {
	return harness.Exhibit{
		Name: "ao-fig3", Title: "Distribution of the sizes of hash buckets", Source: "Ao et al. 2011, Figure 3",
		Says:  "Lists of 2^12+1 to 2^13 docIDs in GOV, 32 buckets. The sizes are distributed binomially, stretched because the lengths differ.",
		Ours:  "At most 256 such lists of the GOV-like workload; non-empty buckets, in steps of 16 docIDs. Binomial: the mean of the distributions Bi(length, 2^(k-5)/documents).",
		Found: `The most frequent size has {{most (rows "GOV" "GOV" "")}} % of the buckets of GOV (binomial {{most (rows "GOV" "binomial" "")}}), {{most (rows "GOVPR" "GOVPR" "")}} % of GOVPR ({{most (rows "GOVPR" "binomial" "")}}) and {{most (rows "GOVR" "GOVR" "")}} % of GOVR ({{most (rows "GOVR" "binomial" "")}}).`,
		Rows:  "docIDs in the bucket",
		Chart: chart.Chart{Kind: chart.Lines, X: "docIDs in the bucket", Y: "% of the buckets"},
		Run: func(ctx context.Context) error {
			for _, d := range harness.DataSets(&s.Opt)[:3] { // GOV, GOVPR, GOVR
				lists, err := d.Draw(ctx, s.Opt.Seed, d.Terms(s.scaled(1<<12+1), s.scaled(1<<13+1), harness.Pick(&s.Opt, 256, 8)))
				if err != nil {
					return err
				}
				found, binomial := bucketSizes(lists, d.Docs)
				for i := range found {
					for _, m := range []struct {
						series string
						share  float64
					}{{d.Name, found[i]}, {"binomial", binomial[i]}} {
						s.Put(harness.Reading{Panel: d.Name, Series: m.series, At: measure.Decimal(float64(i * bucketStep)), X: float64(i * bucketStep),
							Row: measure.Single(100 * m.share).Into(measure.Row{Metric: "buckets", Unit: "% of the buckets"})})
					}
				}
			}
			return nil
		},
	}
}

// bucketSizes returns the shares of buckets by size, in steps of bucketStep: of the lists,
// and as binomial distributions have them.
func bucketSizes(lists [][]uint32, universe uint32) (found, binomial []float64) {
	width := uint32(1) << (codec.BucketShift(1, universe, 1) - hashBits) // one bucket has 2^k docIDs
	p := min(float64(width)/float64(universe), 1)
	add := func(to *[]float64, size int, share float64) {
		for len(*to) <= size/bucketStep {
			*to = append(*to, 0)
		}
		(*to)[size/bucketStep] += share
	}
	total := 0.0
	for _, docs := range lists {
		for h := uint32(0); h < 1<<hashBits; h++ {
			from, to := uint64(h)*uint64(width), uint64(h+1)*uint64(width)
			if size := countBetween(docs, from, to); size > 0 {
				add(&found, size, 1)
				total++
			}
		}
		n := float64(len(docs))
		for size := 1; float64(size) <= n; size++ {
			k := float64(size)
			log := lgamma(n+1) - lgamma(k+1) - lgamma(n-k+1) + k*math.Log(p) + (n-k)*math.Log1p(-p)
			if share := math.Exp(log) / float64(len(lists)); share > 1e-9 {
				add(&binomial, size, share)
			}
		}
	}
	for len(found) < len(binomial) {
		found = append(found, 0)
	}
	for len(binomial) < len(found) {
		binomial = append(binomial, 0)
	}
	for i := range found {
		found[i] /= max(total, 1)
	}
	return found, binomial
}

// countBetween returns the number of docIDs from from to to-1.
func countBetween(docs []uint32, from, to uint64) (n int) {
	for _, x := range docs {
		if uint64(x) >= from && uint64(x) < to {
			n++
		}
	}
	return n
}

func lgamma(x float64) float64 {
	y, _ := math.Lgamma(x)
	return y
}

// aoBuckets measures the memory of hash segmentation.
func (s *bench) aoBuckets() harness.Exhibit {
	return harness.Exhibit{
		Name: "ao-memory", Title: "Memory of hash segmentation over that of plain lists", Source: "Ao et al. 2011, §§4.4, 6.1",
		Says:  "HS16 takes 9 % extra memory.",
		Ours:  "A table covers the buckets up to the last docID of its list only, half of the 2^k numbers that GOV's documents need: 1,053,372 documents of 2^21 numbers. The column of whole tables counts all 2^m buckets.",
		Found: `HS16 takes {{one "" "used range" "hs16"}} % for the used range and {{one "" "whole tables" "hs16"}} % for whole tables.`,
		Rows:  "algorithm",
		Run: func(ctx context.Context) error {
			d := workload.DataSets()[0].Scaled(s.Opt.GOVDocs)
			c, err := d.Sample(ctx, s.Opt.Seed, harness.Pick[uint64](&s.Opt, 16_000_000, 100_000))
			if err != nil {
				return err
			}
			for _, a := range []plan.Algorithm{plan.HS8, plan.HS16, plan.HS32, plan.HS64, plan.HS128, plan.HS256} {
				used, whole := 0.0, 0.0
				for _, docs := range c.Lists {
					shift := codec.BucketShift(uint32(len(docs)), d.Docs, a.Bucket())
					used += float64(docs[len(docs)-1]>>shift) + 2
					whole += float64(uint64(1)<<(codec.BucketShift(1, d.Docs, 1)-shift)) + 1
				}
				for _, m := range []struct {
					series       string
					words, paper float64
				}{{"used range", used, 0}, {"whole tables", whole, map[plan.Algorithm]float64{plan.HS16: 9}[a]}} {
					s.Put(harness.Reading{Panel: d.Name, Series: m.series, At: a.String(), Paper: m.paper,
						Row: measure.Single(100 * m.words / float64(c.Postings())).Into(measure.Row{Metric: "extra memory", Unit: "% of plain lists"})})
				}
			}
			return nil
		},
	}
}
