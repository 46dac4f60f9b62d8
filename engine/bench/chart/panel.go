package chart

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Sizes in points.
const (
	width, height = 468.0, 302.0 // size of a picture without its legend
	textSize      = 10.0
	titleSize     = 11.0
	lineHeight    = 12.0
	gap           = 6.0 // between the parts of a picture
	keyWidth      = 20.0
)

// panel is a picture in progress.
type panel struct {
	Chart
	canvas
	points         []Point
	series, places []string
	x, y           axis
	slanted        bool // labels of places
	legend         []entry
}

// entry is a line of the legend.
type entry struct {
	name string
	draw func(x, y float64) // draws the key around a point
}

// layOut sets the coordinates of the axes, and draws the title, the grid and the labels.
func (p *panel) layOut(title string) {
	p.slanted = len(p.places) > 8 || labelWidth(p.places) > 60
	left := gap + lineHeight + gap + widest(labels(p.y.ticks)) + gap
	bottom := height - gap
	if p.X != "" {
		bottom -= lineHeight + gap
	}
	p.x.from, p.x.to = left, width-2*gap
	names := labels(p.x.ticks)
	if p.slanted {
		bottom -= widest(names)*math.Sin(slant) + lineHeight
	} else {
		bottom -= lineHeight * float64(lines(names))
	}
	top := gap + titleSize*float64(lines([]string{title})) + 2*gap
	p.y.from, p.y.to = bottom-gap, top

	p.text(width/2, gap+titleSize, titleSize, "middle", 0, title)
	for _, t := range p.y.ticks {
		y := p.y.at(t.Value)
		p.line(gridStyle, left, y, p.x.to, y)
		p.text(left-gap, y+textSize/3, textSize, "end", 0, t.Label)
	}
	for _, t := range p.x.ticks {
		x := p.x.at(t.Value)
		if p.Kind == Lines {
			p.line(gridStyle, x, p.y.from, x, p.y.to)
		}
		if p.slanted {
			p.text(x, p.y.from+gap+textSize/2, textSize, "end", -slant, t.Label)
		} else {
			p.text(x, p.y.from+gap+textSize, textSize, "middle", 0, t.Label)
		}
	}
	p.line(axisStyle, left, top, left, p.y.from, p.x.to, p.y.from)
	p.text((left+p.x.to)/2, height-gap, textSize, "middle", 0, p.X)
	p.text(gap+textSize, (top+p.y.from)/2, textSize, "middle", -math.Pi/2, p.Chart.Y)
}

// slant is the angle of the labels of places that lack the space to stand side by side.
const slant = math.Pi / 5

// write writes the picture with its legend, if it needs one.
func (p *panel) write(w io.Writer, title string) error {
	total := width
	papers := slices.ContainsFunc(p.points, func(r Point) bool { return r.Paper > 0 })
	if len(p.series) > 1 || papers {
		y, names := p.y.to+lineHeight/2, []string(nil)
		for _, e := range p.legend {
			e.draw(width+keyWidth/2, y)
			p.text(width+keyWidth+gap, y+textSize/3, textSize, "start", 0, e.name)
			y += lineHeight * 1.2
			names = append(names, e.name)
		}
		total += keyWidth + gap + widest(names) + gap
	}
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]spt" height="%[2]spt" viewBox="0 0 %[1]s %[2]s" font-family="sans-serif">
<path fill="#fff" d="M0,0H%[1]sV%[2]sH0Z"/>
%[3]s</svg>
`, number(total), number(height), p.elements.String())
	return err
}

// distinct returns the distinct keys of the points, in the order of first appearance.
func distinct(part []Point, key func(p Point) string) (names []string) {
	for _, p := range part {
		if k := key(p); !slices.Contains(names, k) {
			names = append(names, k)
		}
	}
	return names
}

func labels(ticks []tick) (all []string) {
	for _, t := range ticks {
		if t.Label != "" {
			all = append(all, t.Label)
		}
	}
	return all
}

// lines is the largest number of lines of a label.
func lines(labels []string) (n int) {
	for _, l := range labels {
		n = max(n, 1+strings.Count(l, "\n"))
	}
	return n
}

// longest is the number of characters of the longest line of a label.
func longest(label string) (n int) {
	for line := range strings.Lines(label) {
		n = max(n, len([]rune(line)))
	}
	return n
}

// labelWidth is the number of characters of all labels side by side.
func labelWidth(labels []string) (n int) {
	for _, l := range labels {
		n += longest(l)
	}
	return n
}

// widest estimates the width of the widest label: the font is the reader's choice.
func widest(labels []string) (w float64) {
	for _, l := range labels {
		ems := 0.0
		for _, r := range l {
			switch {
			case strings.ContainsRune("mwMW%", r):
				ems += 0.95
			case unicode.IsUpper(r):
				ems += 0.7
			default:
				ems += 0.56
			}
		}
		w = max(w, ems*textSize)
	}
	return w
}
