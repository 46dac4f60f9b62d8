package decode

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"heddle/codec"
	"heddle/engine/bench/chart"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/workload"
)

// aoCodecs are the codecs of Figures 7 and 8.
var aoCodecs = []codec.ID{codec.PFD, codec.NewPFD, codec.ParaPFor, codec.LRCPFor, codec.LRCSeg, codec.SegLRC, codec.HSLRC256}

func (s *bench) aoFigure7() harness.Exhibit {
	return harness.Exhibit{
		Name: "ao-fig7", Title: "Compression ratio against the share of exceptions", Source: "Ao et al. 2011, Figure 7",
		Says:  "The ratios rise and then fall; without exceptions they are close to the maximum; the ratio of LRC does not change.",
		Ours:  aboutSample + "Each segment has the share of exceptions, also where fewer would be smaller. Only lrcpfor, which is LRC, has exceptions among our line codecs: the sizes of the others are computed, with widths and exceptions of ParaPFor in each segment of 256 or bucket, and one header word for it.",
		Found: `The ratio is highest with a share of {{places (highest "series" (rows "" "pfd" ""))}} of exceptions for PFD, {{places (highest "series" (rows "" "newpfd" ""))}} for NewPFD and {{places (highest "series" (rows "" "parapfor" ""))}} for ParaPFor; that of LRC is {{to (rows "" "lrc|lrcpfor" "")}} at each.`,
		Rows:  "exceptions",
		Chart: chart.Chart{Kind: chart.Lines, X: "share of exceptions", Y: "compression ratio"},
		Run: func(ctx context.Context) error {
			c, err := workload.DataSets()[0].Scaled(s.Opt.GOVDocs).Sample(ctx, s.Opt.Seed, ratioSample(&s.Opt))
			if err != nil {
				return err
			}
			for _, id := range aoCodecs {
				if !slices.Contains(s.Opt.Codecs, id) {
					continue
				}
				for _, e := range exceptionRatios {
					ratio, err := forcedRatio(ctx, c, id, e)
					if err != nil {
						return err
					}
					s.Put(harness.Reading{Panel: c.Name, Series: id.String(), At: fmt.Sprintf("%.1f", e), X: e, Row: ratioRow(ratio)})
				}
			}
			return nil
		},
	}
}

// forcedRatio is ratioOfLists with a forced share of exceptions.
func forcedRatio(ctx context.Context, c workload.Collection, id codec.ID, share float64) (float64, error) {
	if id.Layout() != codec.LineLayout || id == codec.LRCPFor {
		return ratioOfLists(ctx, c, id, forced(share))
	}
	var sum atomic.Uint64
	err := workload.Each(ctx, len(c.Lists), func(h int) error {
		n, err := lambdaSize(id, c.Lists[h], share)
		sum.Add(uint64(n))
		return err
	})
	return float64(c.Postings()) / float64(max(sum.Load(), 1)), err
}

// lambdaSize returns the words of docs in a line codec whose lambdas have a share of
// exceptions.
func lambdaSize(id codec.ID, docs []uint32, share float64) (int, error) {
	words, err := codec.Append(nil, id, docs, codec.DefaultOptions())
	if err != nil {
		return 0, err
	}
	v, err := codec.List{Codec: id, Len: uint32(len(docs)), Words: words}.Lines()
	if err != nil {
		return 0, err
	}
	size := v.TableWords()
	var lambdas []uint32
	for k := range v.Blocks() {
		if lambdas, err = v.AppendLambdas(lambdas[:0], k); err != nil {
			return 0, err
		}
		size += packedWords(lambdas, share)
		if share > 0 {
			size++
		}
	}
	return size, nil
}

// packedWords returns the words of values with the least width that leaves a share of
// them as exceptions: the low bits, then an index and the high bits of each exception.
func packedWords(values []uint32, share float64) int {
	var count [33]int // values by bit length
	for _, v := range values {
		count[bits.Len32(v)]++
	}
	allowed, exceptions, b := int(share*float64(len(values))), 0, 32
	for b > 0 && exceptions+count[b] <= allowed {
		exceptions += count[b]
		b--
	}
	index, overflow := 0, uint32(0)
	for i, v := range values {
		if bits.Len32(v) > b {
			index, overflow = i, overflow|v>>b
		}
	}
	return (len(values)*b+31)/32 + (exceptions*(bits.Len(uint(index))+bits.Len32(overflow))+31)/32
}
