// Package chart draws figures as SVG: lines, bars and stacks.
package chart

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"

	"heddle/engine/file/auxiliary"
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

// Point is one figure of a chart.
type Point struct {
	Series string  // the line or the colour of the bar
	At     string  // the name of the place on the x axis, for bars
	X, Y   float64 // the place on the axes, for lines
	Paper  float64 // the paper's figure; 0 if there is none
}

// Draw draws a panel to path.svg. It creates the folder.
func (c Chart) Draw(path, title, unit string, part []Point) error {
	var svg bytes.Buffer
	if err := c.SVG(&svg, title, unit, part); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return auxiliary.Replace(path+".svg", svg.Bytes())
}

// SVG writes a panel as SVG. Values that are not finite, or not positive on a logarithmic
// axis, are errors.
func (c Chart) SVG(w io.Writer, title, unit string, part []Point) error {
	if len(part) == 0 {
		return errors.New("a chart needs a point")
	}
	p := panel{Chart: c, points: part, series: distinct(part, func(p Point) string { return p.Series })}
	p.Y = cmp.Or(p.Y, unit)
	if c.Kind != Lines {
		p.places = distinct(part, func(p Point) string { return p.At })
	}
	if err := p.scale(); err != nil {
		return err
	}
	p.layOut(title)
	if c.Kind == Lines {
		p.drawLines()
	} else {
		p.drawBars()
	}
	return p.write(w, title)
}
