package chart

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// palette has colours of different lightness. Further series are dashed.
var palette = []color.RGBA{
	{0x1f, 0x77, 0xb4, 0xff}, {0xd6, 0x27, 0x28, 0xff}, {0x2c, 0xa0, 0x2c, 0xff}, {0xff, 0x7f, 0x0e, 0xff},
	{0x94, 0x67, 0xbd, 0xff}, {0x8c, 0x56, 0x4b, 0xff}, {0xe3, 0x77, 0xc2, 0xff}, {0x59, 0x59, 0x59, 0xff}}

// glyphs are the marks of successive series.
var glyphs = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}}

// xy places a value. It takes logarithms here and not in the axes, whose labels would
// need space as if they stood in the middle of the values.
func (c Chart) xy(x, y float64) plotter.XY {
	if c.LogX {
		x = math.Log10(x)
	}
	if c.LogY {
		y = math.Log10(y)
	}
	return plotter.XY{X: x, Y: y}
}

// drawLines adds one line per series, and hollow marks for the paper's figures.
func (c Chart) drawLines(p *plot.Plot, legend *plot.Legend, names []string, part []Point) error {
	for i, name := range names {
		var ours, paper plotter.XYs
		for _, r := range part {
			if r.Series == name {
				ours = append(ours, c.xy(r.X, r.Y))
				if r.Paper > 0 {
					paper = append(paper, c.xy(r.X, r.Paper))
				}
			}
		}
		line, marks, err := plotter.NewLinePoints(ours)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		line.Color, line.Width = palette[i%len(palette)], vg.Points(1.4)
		if i >= len(palette) {
			line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
		}
		marks.Color, marks.Radius, marks.Shape = line.Color, vg.Points(2.5), glyphs[i%len(glyphs)]
		p.Add(line, marks)
		legend.Add(name, line, marks)
		if len(paper) > 0 {
			hollow, err := plotter.NewScatter(paper)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			hollow.Color, hollow.Radius, hollow.Shape = line.Color, vg.Points(5), draw.RingGlyph{}
			p.Add(hollow)
			legend.Add(name+", paper", hollow)
		}
	}
	return nil
}

// drawBars adds a group or stack of bars for each place. If bars stand alone, hollow
// marks show the paper's figures.
func (c Chart) drawBars(p *plot.Plot, legend *plot.Legend, names []string, part []Point) error {
	places := distinctPoints(part, func(p Point) string { return p.At })
	group := 0.8 * chartWidth / vg.Length(len(places)+1)
	width := group
	if c.Kind == Bars {
		width = group / vg.Length(len(names))
	}
	var below *plotter.BarChart
	var paper plotter.XYs
	for i, name := range names {
		values := make(plotter.Values, len(places))
		for _, r := range part {
			if r.Series == name {
				at := slices.Index(places, r.At)
				values[at] = c.xy(1, r.Y).Y
				if r.Paper > 0 {
					paper = append(paper, plotter.XY{X: float64(at), Y: c.xy(1, r.Paper).Y})
				}
			}
		}
		b, err := plotter.NewBarChart(values, width)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		b.Color, b.LineStyle.Width = palette[i%len(palette)], 0
		if c.Kind == Bars {
			b.Offset = width * (vg.Length(i) - vg.Length(len(names)-1)/2)
		} else if below != nil {
			b.StackOn(below)
		}
		below = b
		p.Add(b)
		legend.Add(name, b)
	}
	if len(paper) > 0 && len(names) == 1 {
		hollow, err := plotter.NewScatter(paper)
		if err != nil {
			return err
		}
		hollow.Radius, hollow.Shape = vg.Points(5), draw.RingGlyph{}
		p.Add(hollow)
		legend.Add("paper", hollow)
	}
	if c.LogY {
		one := plotter.NewFunction(func(float64) float64 { return 0 })
		one.Width = vg.Points(0.5)
		p.Add(one)
	}
	p.NominalX(places...)
	if len(places) > 8 || labelWidth(places) > 80 {
		p.X.Tick.Label.Rotation = math.Pi / 5
		p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
	}
	return nil
}

// distinctPoints returns the distinct keys of the points, in the order of first
// appearance.
func distinctPoints(part []Point, key func(p Point) string) (names []string) {
	for _, p := range part {
		if k := key(p); !slices.Contains(names, k) {
			names = append(names, k)
		}
	}
	return names
}

// labelWidth is the number of characters of all labels side by side.
func labelWidth(labels []string) (n int) {
	for _, l := range labels {
		longest := 0
		for line := range strings.Lines(l) {
			longest = max(longest, len(line))
		}
		n += longest
	}
	return n
}
