package syntax

import (
	"math"
	"math/big"
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// decimalForm is the form of a finite number.
var decimalForm = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// TestParseFloat accepts the decimal form alone, and rounds as package big does.
func TestParseFloat(t *testing.T) {
	check := func(t rapid.TB, text string) {
		got, ok := ParseFloat(text, 64)
		want, _, err := big.ParseFloat(text, 10, 2000, big.ToNearestEven)
		valid := decimalForm.MatchString(text) && err == nil
		value := 0.0
		if valid {
			value, _ = want.Float64()
			valid = !math.IsInf(value, 0)
		}
		if ok != valid || ok && got != value {
			t.Fatalf("%q: %v, %v; want %v, %v", text, got, ok, value, valid)
		}
	}
	for _, text := range []string{"", ".", "+", "1", "-1.", ".5", "+.5e-3", "2024_01", "1_5", "1e5_0", "_1", "0x1p4", "0X1P4", "0b1", "0o7", "1e", "1e+", "1e400", "-1e400", "5e-324",
		"1e-400", "1 ", " 1", "1,5", "--1", "1f", "infinit", "+nan", "1e1.5"} {
		check(t, text)
	}
	form := rapid.StringMatching(`[+-]?[0-9]{0,20}[.]?[0-9]{0,20}([eE_xp][+-]?[0-9_]{0,3})?`)
	rapid.Check(t, func(t *rapid.T) { check(t, form.Draw(t, "text")) })
	for text, want := range map[string]float64{"inf": math.Inf(1), "-Infinity": math.Inf(-1), "+INF": math.Inf(1)} {
		if got, ok := ParseFloat(text, 32); !ok || got != want {
			t.Errorf("%q: %v, %v", text, got, ok)
		}
	}
	if got, ok := ParseFloat("NaN", 64); !ok || got == got {
		t.Error(got, ok)
	}
	if got, ok := ParseFloat("16777217", 32); !ok || got != 16777216 {
		t.Error(got, ok)
	}
}
