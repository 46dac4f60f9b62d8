package chart

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
)

const (
	gridStyle = `fill="none" stroke="#ddd" stroke-width="0.5"`
	axisStyle = `fill="none" stroke="#000" stroke-width="0.5"`
)

// canvas collects the elements of a picture. Coordinates start in the upper left corner.
type canvas struct{ elements strings.Builder }

// number formats a coordinate.
func number(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// line draws a line through points, x and y of each in turn.
func (c *canvas) line(style string, xy ...float64) { c.path(style, "", xy) }

// area fills the area between points.
func (c *canvas) area(style string, xy ...float64) { c.path(style, "Z", xy) }

func (c *canvas) path(style, end string, xy []float64) {
	var points []string
	for i := 0; i < len(xy); i += 2 {
		points = append(points, number(xy[i])+","+number(xy[i+1]))
	}
	fmt.Fprintf(&c.elements, "<path %s d=\"M%s%s\"/>\n", style, strings.Join(points, "L"), end)
}

func (c *canvas) circle(style string, x, y, radius float64) {
	fmt.Fprintf(&c.elements, "<circle %s cx=\"%s\" cy=\"%s\" r=\"%s\"/>\n", style, number(x), number(y), number(radius))
}

// glyph draws the mark of a series around a point.
func (c *canvas) glyph(series int, style string, x, y float64) {
	const r = 2.5
	switch series % 4 {
	case 0:
		c.circle(style, x, y, r)
	case 1:
		c.area(style, x-r, y-r, x+r, y-r, x+r, y+r, x-r, y+r)
	case 2:
		c.area(style, x-r, y+r, x+r, y+r, x, y-r)
	case 3:
		c.area(style, x, y-1.3*r, x+1.3*r, y, x, y+1.3*r, x-1.3*r, y)
	}
}

// text writes lines of text. Its anchor (start, middle, end) on the first base line lies at the
// point, around which the angle turns the text.
func (c *canvas) text(x, y, size float64, anchor string, angle float64, text string) {
	turned := ""
	if angle != 0 {
		turned = fmt.Sprintf(` transform="rotate(%s %s %s)"`, number(angle/math.Pi*180), number(x), number(y))
	}
	for line := range strings.Lines(text) {
		fmt.Fprintf(&c.elements, `<text x="%s" y="%s" font-size="%s" text-anchor="%s"%s>`, number(x), number(y), number(size), anchor, turned)
		_ = xml.EscapeText(&c.elements, []byte(strings.TrimSuffix(line, "\n"))) // a Builder takes all bytes
		c.elements.WriteString("</text>\n")
		y += size * 1.2
	}
}
