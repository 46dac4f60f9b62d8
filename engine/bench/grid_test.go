package bench

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

// sampleReadings are two series at two places, with everything that a grid shows.
func sampleReadings() []reading {
	row := func(v float64) Row { return Row{Median: v, Min: v * 0.9, Max: v * 1.1, Runs: 3, Unit: "queries/s"} }
	first, second := row(91382), row(0.5)
	first.PeakFraction, first.Baseline, first.Ratio = 0.42, "roaring", 1.5
	second.Runs = 1
	return []reading{
		{panel: "p", series: "hs16", at: "1 M", x: 1 << 20, paper: 91382, Row: first},
		{panel: "p", series: "bs", at: "1 M", x: 1 << 20, Row: row(12.34)},
		{panel: "p", series: "hs16", at: "2 M", x: 2 << 20, Row: second},
	}
}

func TestGrid(t *testing.T) {
	want := [][]string{
		{"threshold", "hs16", "paper", "of peak", "× roaring", "bs"},
		{"1 M", "91382 ±10%", "91382", "42.0 %", "1.50", "12.3 ±10%"},
		{"2 M", "0.500", "", "", "", ""},
	}
	got := grid("threshold", sampleReadings())
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("line %d: %q, want %q", i, got[i], want[i])
		}
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.00012: "0.0001", 0.054: "0.0540", 0.13: "0.130", 1: "1.00", 9.996: "10.00", 12.34: "12.3",
		99.4: "99.4", 123.4: "123", 91382: "91382", -2.5: "-2.50"} {
		if got := number(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

func labels(ticks []plot.Tick) (out []string) {
	for _, t := range ticks {
		if t.Label != "" {
			out = append(out, t.Label)
		}
	}
	return out
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		got  []plot.Tick
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
	for _, ticks := range []func(lo, hi float64) []plot.Tick{powersOfTwo, oneTwoFive, evenly} {
		for _, hi := range []float64{1.5, 3, 1e3, 1e12} {
			if n := len(labels(ticks(1, hi))); n > 16 {
				t.Errorf("%d labels from 1 to %v", n, hi)
			}
		}
	}
}

// TestDraw draws what is hard: one point, zeros, no series name, many series.
func TestDraw(t *testing.T) {
	many := sampleReadings()[:0]
	for i := range 14 {
		for x := range 3 {
			v := float64(1 + i + x)
			many = append(many, reading{series: strings.Repeat("s", i+1), at: strings.Repeat("p", x+1), x: v, Row: Row{Median: v, Unit: "ms"}})
		}
	}
	one := []reading{{series: "s", at: "p", x: 64, Row: Row{Median: 3, Unit: "ms"}}}
	for name, c := range map[string]struct {
		chart chart
		part  []reading
	}{
		"lines":  {chart{kind: lineChart, x: "x"}, many},
		"logs":   {chart{kind: lineChart, x: "x", logX: true, logY: true}, many},
		"tens":   {chart{kind: lineChart, x: "x", logX: true, tens: true}, sampleReadings()},
		"one":    {chart{kind: lineChart, x: "x", logX: true, logY: true}, one},
		"bars":   {chart{kind: barChart}, many},
		"stacks": {chart{kind: stackChart}, many},
		"zero":   {chart{kind: barChart}, []reading{{series: "s", at: "p"}}},
	} {
		dir := t.TempDir()
		if err := c.chart.draw(filepath.Join(dir, "plots", name), "title\npanel", c.part); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkPictures(t, dir, "[x](plots/"+name+".svg)")
	}
	if err := (chart{kind: lineChart}).draw(filepath.Join(t.TempDir(), "nan"), "t", []reading{{series: "s", x: math.NaN()}}); err == nil {
		t.Error("not a number: no error")
	}
}

func TestFileName(t *testing.T) {
	if got := fileName("clustered, NVIDIA H200 (S = 132)"); got != "clustered-nvidia-h200-s-132" {
		t.Error(got)
	}
}
