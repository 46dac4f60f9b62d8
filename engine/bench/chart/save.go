package chart

import (
	"io"
	"os"
	"path/filepath"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Size of a picture without its legend.
const chartWidth, chartHeight = 6.5 * vg.Inch, 4.2 * vg.Inch

// draw draws the picture in a format.
func (x *picture) draw(format string) (vg.CanvasWriterTo, error) {
	side := vg.Length(0)
	if x.withLegend {
		probe, err := draw.NewFormattedCanvas(chartWidth, chartHeight, format)
		if err != nil {
			return nil, err
		}
		side = x.legend.Rectangle(draw.New(probe)).Size().X + vg.Points(10)
	}
	canvas, err := draw.NewFormattedCanvas(chartWidth+side, chartHeight, format)
	if err != nil {
		return nil, err
	}
	all := draw.New(canvas)
	x.plot.Draw(draw.Crop(all, vg.Points(4), -side-vg.Points(8), vg.Points(4), -vg.Points(4)))
	if x.withLegend {
		x.legend.Draw(draw.Crop(all, chartWidth, -vg.Points(2), 0, -vg.Points(28)))
	}
	return canvas, nil
}

// save draws the picture to path.svg and path.png.
func (x *picture) save(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	for _, format := range []string{"svg", "png"} {
		canvas, err := x.draw(format)
		if err != nil {
			return err
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
