// Package chart draws figures as SVG and PNG: lines, bars and stacks.
package chart

import (
	"cmp"
	"image/color"
	"io"
	"math"
	"slices"

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

// Draw draws a panel to path.svg and path.png. It creates the folder.
func (c Chart) Draw(path, title, unit string, part []Point) error {
	x, err := c.plot(title, unit, part)
	if err != nil {
		return err
	}
	return x.save(path)
}

// SVG writes a panel as SVG.
func (c Chart) SVG(w io.Writer, title, unit string, part []Point) error {
	x, err := c.plot(title, unit, part)
	if err != nil {
		return err
	}
	canvas, err := x.draw("svg")
	if err != nil {
		return err
	}
	_, err = canvas.WriteTo(w)
	return err
}

// picture is a plot with the legend to its right, if it has one.
type picture struct {
	plot       *plot.Plot
	legend     plot.Legend
	withLegend bool
}

// plot lays a panel out.
func (c Chart) plot(title, unit string, part []Point) (*picture, error) {
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
		return nil, err
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
	return &picture{p, legend, len(names) > 1 || papers}, nil
}

// Point is one figure of a chart.
type Point struct {
	Series string  // the line or the colour of the bar
	At     string  // the name of the place on the x axis, for bars
	X, Y   float64 // the place on the axes, for lines
	Paper  float64 // the paper's figure; 0 if there is none
}
