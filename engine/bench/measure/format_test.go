package measure

import "testing"

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.00012: "0.0001", 0.054: "0.0540", 0.13: "0.130", 1: "1.00", 9.996: "10.00", 12.34: "12.3",
		99.4: "99.4", 123.4: "123", 91382: "91382", -2.5: "-2.50"} {
		if got := Number(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}
