// Package chart draws figures as SVG and PNG: lines, bars and stacks.
package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Chart describes how to draw the panels of an exhibit.
type Chart struct {
	Kind       Kind
	X, Y       string // axis labels; an empty Y stands for the unit of the points
	LogX, LogY bool   // logarithmic axes: x has ticks at powers of two, y at 1, 2, 5; bars start at 1
	Tens       bool   // ticks of a logarithmic x axis at 1, 2, 5
}

type Kind uint8

const (
	None   Kind = iota
	Lines       // one line per series, over x
	Bars        // bars side by side, one group per place
	Stacks      // bars on top of each other
)

// Size of a picture without its legend.
const chartWidth, chartHeight = 6.5 * vg.Inch, 4.2 * vg.Inch

// palette has colours of different lightness. Further series are dashed.
var palette = []color.RGBA{
	{0x1f, 0x77, 0xb4, 0xff}, {0xd6, 0x27, 0x28, 0xff}, {0x2c, 0xa0, 0x2c, 0xff}, {0xff, 0x7f, 0x0e, 0xff},
	{0x94, 0x67, 0xbd, 0xff}, {0x8c, 0x56, 0x4b, 0xff}, {0xe3, 0x77, 0xc2, 0xff}, {0x59, 0x59, 0x59, 0xff}}

// glyphs are the marks of successive series.
var glyphs = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}}

// Draw draws a panel to path.svg and path.png.
func (c Chart) Draw(path, title, unit string, part []Point) error {
	p := plot.New()
	p.Title.Text, p.Title.Padding = title, vg.Points(8)
	p.Title.TextStyle.Font.Size = 11
	p.X.Label.Text = c.X
	p.Y.Label.Text = cmp.Or(c.Y, unit)
	p.X.Label.Padding, p.Y.Label.Padding = vg.Points(4), vg.Points(4)
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(evenly), plot.TickerFunc(evenly)
	if c.LogX {
		p.X.Tick.Marker = logarithmic(powersOfTwo)
		if c.Tens {
			p.X.Tick.Marker = logarithmic(oneTwoFive)
		}
	}
	p.Y.Min = 0
	if c.LogY {
		p.Y.Min, p.Y.Tick.Marker = math.Inf(1), logarithmic(oneTwoFive)
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{0xdd}, color.Gray{0xdd}
	p.Add(grid)
	legend := plot.NewLegend()
	legend.Top, legend.Left, legend.YPosition = true, true, draw.PosCenter
	legend.Padding = vg.Points(3)
	names := distinctPoints(part, func(p Point) string { return p.Series })
	var err error
	if c.Kind == Lines {
		err = c.drawLines(p, &legend, names, part)
	} else {
		err = c.drawBars(p, &legend, names, part)
	}
	if err != nil {
		return err
	}
	if c.LogX {
		p.X.Min, p.X.Max = p.X.Min-0.06, p.X.Max+0.06
	}
	if c.LogY {
		p.Y.Min, p.Y.Max = p.Y.Min-0.08, p.Y.Max+0.08
	} else {
		p.Y.Max *= 1.05
	}
	papers := slices.ContainsFunc(part, func(r Point) bool { return r.Paper > 0 })
	return save(path, p, &legend, len(names) > 1 || papers)
}

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
	if len(places) > 8 || len(strings.Join(places, "")) > 80 {
		p.X.Tick.Label.Rotation = math.Pi / 5
		p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
	}
	return nil
}

// save draws the plot, and the legend to its right, to path.svg and path.png.
func save(path string, p *plot.Plot, legend *plot.Legend, withLegend bool) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	for _, format := range []string{"svg", "png"} {
		side := vg.Length(0)
		if withLegend {
			probe, err := draw.NewFormattedCanvas(chartWidth, chartHeight, format)
			if err != nil {
				return err
			}
			side = legend.Rectangle(draw.New(probe)).Size().X + vg.Points(10)
		}
		canvas, err := draw.NewFormattedCanvas(chartWidth+side, chartHeight, format)
		if err != nil {
			return err
		}
		all := draw.New(canvas)
		p.Draw(draw.Crop(all, vg.Points(4), -side-vg.Points(8), vg.Points(4), -vg.Points(4)))
		if withLegend {
			legend.Draw(draw.Crop(all, chartWidth, -vg.Points(2), 0, -vg.Points(28)))
		}
		if err := writeFile(path+"."+format, canvas); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes the output of w to a file.
func writeFile(path string, w io.WriterTo) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err = w.WriteTo(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// Point is one figure of a chart.
type Point struct {
	Series string  // the line or the colour of the bar
	At     string  // the name of the place on the x axis, for bars
	X, Y   float64 // the place on the axes, for lines
	Paper  float64 // the paper's figure; 0 if there is none
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
