package main

import "testing"

func TestVersion(t *testing.T) {
	for version, want := range map[string]string{
		"0.1.0":                       "0.1.0",
		"0.0.0~202611291200.0123abcd": "0.0.0.dev202611291200+g0123abcd",
	} {
		if got := python(version); got != want {
			t.Errorf("%s became %s, want %s", version, got, want)
		}
	}
}
