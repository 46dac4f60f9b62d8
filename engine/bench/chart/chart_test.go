package chart

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/bench/benchtest"
)

// TestDraw draws difficult cases: one point, zeros, no series name, many series.
func TestDraw(t *testing.T) {
	var many []Point
	for i := range 14 {
		for x := range 3 {
			v := float64(1 + i + x)
			many = append(many, Point{Series: strings.Repeat("s", i+1), At: strings.Repeat("p", x+1), X: v, Y: v})
		}
	}
	two := []Point{{Series: "hs16", At: "1 M", X: 1 << 20, Y: 91382, Paper: 91382}, {Series: "bs", At: "1 M", X: 1 << 20, Y: 12.34}, {Series: "hs16", At: "2 M", X: 2 << 20, Y: 0.5}}
	one := []Point{{Series: "s", At: "p", X: 64, Y: 3}}
	for name, c := range map[string]struct {
		chart Chart
		part  []Point
	}{
		"lines":  {Chart{Kind: Lines, X: "x"}, many},
		"logs":   {Chart{Kind: Lines, X: "x", LogX: true, LogY: true}, many},
		"tens":   {Chart{Kind: Lines, X: "x", LogX: true, Tens: true}, two},
		"one":    {Chart{Kind: Lines, X: "x", LogX: true, LogY: true}, one},
		"bars":   {Chart{Kind: Bars}, many},
		"stacks": {Chart{Kind: Stacks}, many},
		"zero":   {Chart{Kind: Bars}, []Point{{Series: "s", At: "p"}}},
	} {
		dir := t.TempDir()
		if err := c.chart.Draw(filepath.Join(dir, "plots", name), "title\npanel", "ms", c.part); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		benchtest.CheckPictures(t, dir, "[x](plots/"+name+".svg)")
	}
	for name, part := range map[string][]Point{
		"not a number": {{Series: "s", X: math.NaN(), Y: 1}},
		"infinite":     {{Series: "s", X: 1, Y: math.Inf(1)}},
		"logarithm":    {{Series: "s", X: 1, Y: 0}},
		"no point":     nil,
	} {
		path := filepath.Join(t.TempDir(), "bad")
		if err := (Chart{Kind: Lines, LogY: true}).Draw(path, "t", "ms", part); err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, err := os.Stat(path + ".svg"); err == nil {
			t.Errorf("%s: there is a picture", name)
		}
	}
}
