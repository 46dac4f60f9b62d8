package bm25

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestWeight holds the variants to values worked out by hand: N = 1000, k1 = 1.2.
func TestWeight(t *testing.T) {
	for _, test := range []struct {
		variant Variant
		df      uint64
		want    float64
	}{
		{Lucene, 1, 6.503289671207057},    // ln(1 + 999.5/1.5)
		{Lucene, 1000, 4.996252914e-04},   // ln(1 + 0.5/1000.5)
		{Robertson, 1, 6.501790045832291}, // ln(999.5/1.5)
		{Robertson, 500, 0},
		{Robertson, 1000, 0},
		{ATIRE, 1, 6.907755278982137 * 2.2}, // ln 1000
		{ATIRE, 1000, 0},
		{PISA, 1, 6.501790045832291 * 2.2},
		{PISA, 1000, 1e-6 * 2.2},
	} {
		p := Params{test.variant, 1.2, 0.75}
		got := p.Weight(1000, test.df)
		if math.Abs(got-test.want) > 1e-9*math.Abs(test.want) {
			t.Errorf("%s, df %d: weight %v, want %v", p, test.df, got, test.want)
		}
	}
}

// TestWeightDescends: a term in more documents never weighs more.
func TestWeightDescends(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := rapid.Uint64Range(2, 1<<32).Draw(t, "docs")
		df := rapid.Uint64Range(1, docs-1).Draw(t, "df")
		p := Params{rapid.SampledFrom(Variants()).Draw(t, "variant"), rapid.Float64Range(0, MaxK1).Draw(t, "k1"), 0.4}
		a, b := p.Weight(docs, df), p.Weight(docs, df+1)
		if !(a >= b && b >= 0) || math.IsInf(a, 0) {
			t.Fatalf("%s: weight %v with df %d of %d, %v with one more", p, a, df, docs, b)
		}
	})
}

// TestTF compares the term-frequency component in integers with floating point.
func TestTF(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Params{
			K1: rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 3), rapid.Float64Range(0, MaxK1)).Draw(t, "k1"),
			B:  rapid.OneOf(rapid.Just(0.0), rapid.Just(1.0), rapid.Float64Range(0, 1)).Draw(t, "b"),
		}
		average := max(rapid.OneOf(rapid.Float64Range(1e-9, 1), rapid.Float64Range(1, 1<<32)).Draw(t, "average"), p.K1*p.B/255)
		freq := max(rapid.Uint32().Draw(t, "freq")>>rapid.IntRange(0, 31).Draw(t, "right"), 1)
		length := rapid.Uint32().Draw(t, "length") >> rapid.IntRange(0, 32).Draw(t, "shift")
		length = uint32(min(float64(length), average*(1<<24))) // no longer than all of 2^24 documents
		got := float64(p.Norm(average).TF(freq, length)) / (1 << 32)
		want := p.TF(freq, length, average)
		if math.Abs(got-want) > 1.0/(1<<22) {
			t.Fatalf("%s, average %v: share %v of frequency %d in %d tokens, want %v", p, average, got, freq, length, want)
		}
	})
}

func TestValidate(t *testing.T) {
	for _, p := range []Params{Default(), {}, {PISA, MaxK1, 1}} {
		if err := p.Validate(); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
	for _, p := range []Params{
		{variants, 0.9, 0.4}, {Lucene, -0.1, 0.4}, {Lucene, 256, 0.4}, {Lucene, math.NaN(), 0.4},
		{Lucene, 0.9, -1}, {Lucene, 0.9, 1.01}, {Lucene, 0.9, math.NaN()}, {Lucene, math.Inf(1), 0.4},
	} {
		if p.Validate() == nil {
			t.Errorf("%s is valid", p)
		}
	}
}

func TestNames(t *testing.T) {
	for _, v := range Variants() {
		if got, err := ParseVariant(v.String()); err != nil || got != v {
			t.Errorf("%s becomes %s, %v", v, got, err)
		}
	}
	if v, err := ParseVariant("Lucene"); err != nil || v != Lucene {
		t.Error(v, err)
	}
	if v, err := ParseVariant("okapi"); err == nil {
		t.Errorf("okapi is %s", v)
	}
	if s := Default().String(); s != "lucene k1=0.9 b=0.4" {
		t.Error(s)
	}
}
