package chart

import (
	"strings"
	"testing"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		got  []tick
		want string
	}{
		{powersOfTwo(7000, 9e6), "8 K,16 K,32 K,64 K,128 K,256 K,512 K,1 M,2 M,4 M,8 M"},
		{powersOfTwo(16, 1<<28), "16,128,1 K,8 K,64 K,512 K,4 M,32 M,256 M"},
		{oneTwoFive(0.8, 60), "1,2,5,10,20,50"},
		{oneTwoFive(0.8, 1e6), "1,10,100,1 K,10 K,100 K,1 M"},
		{evenly(0, 31_000), "0,5 K,10 K,15 K,20 K,25 K,30 K"},
		{evenly(0, 0.6), "0,0.1,0.2,0.3,0.4,0.5,0.6"},
	} {
		if got := strings.Join(labels(c.got), ","); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	for _, ticks := range []func(lo, hi float64) []tick{powersOfTwo, oneTwoFive, evenly} {
		for _, hi := range []float64{1.5, 3, 1e3, 1e12} {
			if n := len(labels(ticks(1, hi))); n > 16 {
				t.Errorf("%d labels from 1 to %v", n, hi)
			}
		}
	}
}
