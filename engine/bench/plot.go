package bench

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// plotSweep draws throughput and response time over thresholds, a line an
// algorithm, to dir/NAME-throughput and dir/NAME-response, as SVG and PNG.
func plotSweep(dir, name, title string, points []point) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, figure := range []struct {
		suffix, axis string
		value        func(p point) float64
	}{
		{"throughput", "queries/s", func(p point) float64 { return p.rate.Median }},
		{"response", "response time of a batch, ms", func(p point) float64 { return p.response.Median }},
	} {
		p := plot.New()
		p.Title.Text = title
		p.X.Label.Text = "threshold, candidates a batch"
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, powersOfTwo{}
		p.Y.Label.Text = figure.axis
		p.Y.Min = 0
		p.Title.Padding = vg.Points(6)
		p.Legend.Top, p.Legend.Left = true, true
		p.Add(plotter.NewGrid())
		var names []string
		lines := make(map[string]plotter.XYs)
		for _, pt := range points {
			n := pt.algorithm.String()
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
			lines[n] = append(lines[n], plotter.XY{X: float64(pt.threshold), Y: figure.value(pt)})
		}
		for i, n := range names {
			line, marks, err := plotter.NewLinePoints(lines[n])
			if err != nil {
				return err
			}
			line.Color, marks.Color, marks.Shape = plotutil.Color(i), plotutil.Color(i), plotutil.Shape(i)
			p.Add(line, marks)
			p.Legend.Add(n, line, marks)
		}
		p.Y.Max *= 1.3 // room for the legend, and for the labels at the sides
		p.X.Min, p.X.Max = p.X.Min/1.15, p.X.Max*1.15
		for _, format := range []string{".svg", ".png"} {
			if err := p.Save(7*vg.Inch, 4.5*vg.Inch, filepath.Join(dir, name+"-"+figure.suffix+format)); err != nil {
				return err
			}
		}
	}
	return nil
}

// powersOfTwo marks an axis of thresholds: 128K, 256K, up to 8M.
type powersOfTwo struct{}

// Ticks implements plot.Ticker.
func (powersOfTwo) Ticks(lo, hi float64) (ticks []plot.Tick) {
	for v := math.Exp2(math.Ceil(math.Log2(lo))); v <= hi; v *= 2 {
		label := strconv.Itoa(int(v)>>10) + "K"
		if v >= 1<<20 {
			label = strconv.Itoa(int(v)>>20) + "M"
		}
		ticks = append(ticks, plot.Tick{Value: v, Label: label})
	}
	return ticks
}
