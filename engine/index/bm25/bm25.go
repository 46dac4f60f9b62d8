// Package bm25 is the BM25 family of scoring functions. A posting of term t adds to the
// score of document d
//
//	w(t) · tf / (tf + k1 (1 - b + b |d| / avg))
//
// where tf is the frequency of t in d, |d| the length of d and avg the mean length of
// documents, in tokens. Members of the family differ in the weight w(t) alone. Weights
// become integers before documents are scored (Fix), and the term-frequency component is
// computed in integers (plan.Norm), so scores do not depend on the order of additions.
package bm25

import (
	"fmt"
	"math"
	"strings"

	"heddle/engine/plan"
	"heddle/engine/syntax"
)

// Variant names a member of the family, by the weight of a term that is in df of N
// documents.
type Variant uint8

const (
	// Lucene: ln(1 + (N-df+0.5)/(df+0.5)), always positive. It is the default.
	Lucene Variant = iota
	// Robertson: ln((N-df+0.5)/(df+0.5)), 0 for terms in half of the documents or
	// more.
	Robertson
	// ATIRE: ln(N/df) (k1+1).
	ATIRE
	// PISA: Robertson's logarithm, at least 1e-6, times k1+1.
	PISA
	variants // how many there are
)

// Variants returns all of them.
func Variants() []Variant {
	all := make([]Variant, variants)
	for i := range all {
		all[i] = Variant(i)
	}
	return all
}

// String gives the name that command line and configuration use.
func (v Variant) String() string {
	if v >= variants {
		return fmt.Sprintf("variant(%d)", uint8(v))
	}
	return [...]string{"lucene", "robertson", "atire", "pisa"}[v]
}

// ParseVariant is the inverse of String, case ignored.
func ParseVariant(s string) (Variant, error) {
	for _, v := range Variants() {
		if strings.EqualFold(s, v.String()) {
			return v, nil
		}
	}
	return 0, fmt.Errorf("unknown BM25 variant %s (one of lucene, robertson, atire, pisa)", syntax.Quote(s))
}

// Params are a scoring function of the family.
type Params struct {
	Variant Variant
	K1      float64 // 0 to MaxK1: how much a further occurrence of a term adds
	B       float64 // 0 to 1: how much the length of a document matters
}

// MaxK1 is the greatest k1.
const MaxK1 = 255

// Default is lucene with k1 = 0.9 and b = 0.4.
func Default() Params { return Params{Variant: Lucene, K1: 0.9, B: 0.4} }

// String gives "lucene k1=0.9 b=0.4".
func (p Params) String() string { return fmt.Sprintf("%s k1=%v b=%v", p.Variant, p.K1, p.B) }

// Validate checks that the variant is known and the numbers are in range.
func (p Params) Validate() error {
	switch {
	case p.Variant >= variants:
		return fmt.Errorf("bm25: unknown %s", p.Variant)
	case !(p.K1 >= 0 && p.K1 <= MaxK1): // NaN too
		return fmt.Errorf("bm25: k1 = %v is not from 0 to %d", p.K1, MaxK1)
	case !(p.B >= 0 && p.B <= 1):
		return fmt.Errorf("bm25: b = %v is not from 0 to 1", p.B)
	}
	return nil
}

// Weight is w of a term in df of docs documents; df must be from 1 to docs. It is
// finite and not negative.
func (p Params) Weight(docs, df uint64) float64 {
	n, f := float64(docs), float64(df)
	odds := (n - f + 0.5) / (f + 0.5)
	switch p.Variant {
	case Robertson:
		return max(math.Log(odds), 0)
	case ATIRE:
		return math.Log(n/f) * (p.K1 + 1)
	case PISA:
		return max(math.Log(odds), 1e-6) * (p.K1 + 1)
	}
	return math.Log(1 + odds)
}

// Share is the fraction of its term's weight that a posting contributes, in
// floating point: the exact quantity that Norm and plan.Norm.TF round.
func (p Params) TF(freq, length uint32, average float64) float64 {
	tf := float64(freq)
	return tf / (tf + p.K1*(1-p.B+p.B*float64(length)/average))
}

// Norm is the rule by which backends compute shares, for documents of a positive
// mean length; one below k1 b / 256 tokens counts as that.
func (p Params) Norm(average float64) plan.Norm { return plan.NewNorm(p.K1, p.B, average) }
