package bench

import (
	"context"
	"math"
	"strings"
)

// wuExhibits are what Wu et al. (IPDPSW 2010) measured of scheduling; their other figures
// of PART and PARA are among those of Lists.
func wuExhibits() []exhibit {
	return []exhibit{wuTable1(), wuFigure3(), wuFigure4(), wuFigure7(), wuTable2(), wuFigure9(), wuFigure10(), wuTable3()}
}

// wuLengths are the upper ends of the classes of Table I, and wuShares the shares of GOV's
// lists that it has, in percent.
var (
	wuLengths = [...]uint32{1000, 5000, 10_000, 50_000, 100_000, math.MaxUint32}
	wuNames   = [...]string{"1 to 1 K", "to 5 K", "to 10 K", "to 50 K", "to 100 K", "more"}
	wuShares  = [...]float64{64.32, 19.35, 5.93, 7.93, 1.52, 0.95}
)

func wuTable1() exhibit {
	return exhibit{
		name: "wu-table1", title: "Length distribution of lists", source: "Wu et al. 2010, Table I",
		says:   "Of 1.25 M pages of GOV. Baidu's lists have similar characteristics.",
		ours:   "1.05 M documents. The shares of postings, and of the lists that queries name, are not in the paper.",
		orders: govOrder, rows: "length",
		run: func(ctx context.Context, s *session) error {
			var lists, postings, asked [len(wuLengths)]float64
			var terms float64
			for _, l := range s.w.Source.Lists {
				lists[lengthClass(l.Len)]++
				postings[lengthClass(l.Len)] += float64(l.Len)
			}
			for _, q := range s.w.Queries {
				for _, h := range q {
					asked[lengthClass(s.w.Source.Lists[h].Len)]++
				}
				terms += float64(len(q))
			}
			for i, name := range wuNames {
				for _, c := range []struct {
					series         string
					share, of, gov float64
				}{
					{"lists", lists[i], float64(len(s.w.Source.Lists)), wuShares[i]},
					{"postings", postings[i], float64(s.w.Postings()), 0},
					{"lists of queries", asked[i], terms, 0},
				} {
					err := s.put(reading{panel: s.w.Name(), series: c.series, at: name, paper: c.gov,
						Row: single(100 * c.share / c.of).into(Row{Metric: "share of " + c.series, Unit: "%"})})
					if err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

// lengthClass is the class of Table I of a list of n docIDs.
func lengthClass(n uint32) (i int) {
	for n > wuLengths[i] {
		i++
	}
	return i
}

// putOf records a reading of an exhibit whose panels have the same series and places: the
// row names what the panel is of.
func (s *session) putOf(what string, r reading) error {
	r.Row.Row = strings.Join([]string{s.now.name, what, r.series, s.now.rows, r.at}, " ")
	return s.put(r)
}
