package decode

import (
	"context"
	"math"
	"math/big"

	"heddle/codec"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
)

// Table 5, for 2^24 documents and an error of 10^-5.
var (
	widthLengths  = [...]int{100_000, 200_000, 400_000, 800_000, 1_000_000, 2_000_000}
	paperBound    = [...]float64{18, 18, 17, 17, 17, 16}
	paperBitWidth = [...]float64{17, 17, 17, 16, 15, 15}
)

const (
	widthDocs  = 1 << 24
	widthError = 1e-5
	moment     = 22 // order of the central moment
)

// aoTable5 compares the bound of appendix E with the size of LRC.
func (s *bench) aoTable5() harness.Exhibit {
	return harness.Exhibit{
		Name: "ao-table5", Title: "Bits a docID of LRC: the bound and random lists", Source: "Ao et al. 2011, Table 5",
		Says:  "The theoretical width, from the 22nd central moment for 2^24 documents and an error of 10^-5, is close to the average width of the lists of BDR.",
		Ours:  "The bound is computed exactly, in integers of any size. The lists are random, as the theory has them; their width includes all tables.",
		Found: `The bounds are {{to (ours (rows "" "bound" ""))}} times the paper's, the widths {{to (ours (rows "" "average" ""))}} times.`,
		Rows:  "docIDs in the list",
		Run: func(ctx context.Context) error {
			for i, n := range widthLengths {
				if s.Opt.Short && n > 400_000 {
					break
				}
				docs := workload.NewRandom(s.Opt.Seed, workload.StreamGaps, uint64(n)).Sample(nil, 0, widthDocs, float64(n)/widthDocs)
				words := codec.Size(codec.LRC, docs, codec.DefaultOptions())
				at := measure.Decimal(float64(n))
				for _, m := range []struct {
					series       string
					value, paper float64
				}{{"bound", float64(boundedWidth(n, widthDocs, widthError)), paperBound[i]},
					{"average", 32 * float64(words) / float64(len(docs)), paperBitWidth[i]}} {
					s.Put(harness.Reading{Panel: "bits a docID", Series: m.series, At: at, Paper: m.paper,
						Row: measure.Single(m.value).Into(measure.Row{Metric: "bit width", Unit: "bits"})})
				}
			}
			return ctx.Err()
		},
	}
}

// boundedWidth is ceil(log2(t) + 1) for the smallest t such that a docID of a random
// list of n among m deviates from the line by t with a probability below epsilon, by
// Markov's inequality on the central moment (appendix E).
func boundedWidth(n, m int, epsilon float64) int {
	mu, _ := new(big.Float).SetRat(centralMoment(n, m, moment)).Float64()
	t := math.Pow(mu/epsilon, 1.0/moment)
	return int(math.Ceil(math.Log2(t) + 1))
}

// centralMoment is E[(X - E X)^r] of the middle element X of a random list of n among 1
// to m (Theorem E.3). The moments about zero follow from the rising factorial moments
// of Lemma E.1 and Stirling numbers of the second kind.
func centralMoment(n, m, r int) *big.Rat {
	i := (n + 1) / 2
	mean := big.NewRat(int64(i)*int64(m+1), int64(n+1))
	power := func(x *big.Rat, e int) *big.Rat {
		p := big.NewRat(1, 1)
		for range e {
			p.Mul(p, x)
		}
		return p
	}
	sum := new(big.Rat)
	stirling := []*big.Int{big.NewInt(1)} // Stirling numbers of the second kind, for l
	for l := 0; l <= r; l++ {
		about := new(big.Rat) // E[X^l]
		rising := big.NewRat(1, 1)
		for j := 0; j <= l; j++ {
			term := new(big.Rat).Mul(rising, new(big.Rat).SetInt(stirling[j]))
			if (l-j)%2 == 1 {
				term.Neg(term)
			}
			about.Add(about, term)
			// (i)_(j+1) (m+1)_(j+1) / (n+1)_(j+1)
			rising.Mul(rising, big.NewRat(int64(i+j)*int64(m+1+j), int64(n+1+j)))
		}
		term := new(big.Rat).SetInt(new(big.Int).Binomial(int64(r), int64(l)))
		term.Mul(term, about).Mul(term, power(mean, r-l))
		if (r-l)%2 == 1 {
			term.Neg(term)
		}
		sum.Add(sum, term)
		next := make([]*big.Int, l+2) // S(l+1, j) = j S(l, j) + S(l, j-1)
		for j := range next {
			next[j] = new(big.Int)
			if j <= l {
				next[j].Mul(big.NewInt(int64(j)), stirling[j])
			}
			if j > 0 {
				next[j].Add(next[j], stirling[j-1])
			}
		}
		stirling = next
	}
	return sum
}
