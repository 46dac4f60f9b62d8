package benchtest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// CheckPictures checks the pictures that a section of a report links: each is SVG with text and
// coloured shapes, and places them inside the picture.
func CheckPictures(t *testing.T, dir, section string) {
	t.Helper()
	links := regexp.MustCompile(`\]\((.*?\.svg)\)`).FindAllStringSubmatch(section, -1)
	if len(links) == 0 {
		t.Errorf("no picture in\n%s", section)
	}
	for _, l := range links {
		path := filepath.Join(dir, filepath.FromSlash(l[1]))
		svg, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		checkSVG(t, path, svg)
	}
}

func checkSVG(t *testing.T, path string, svg []byte) {
	t.Helper()
	width, height := 0.0, 0.0
	elements, colours := make(map[string]int), make(map[string]bool)
	for decoder := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		elements[start.Name.Local]++
		for _, a := range start.Attr {
			switch a.Name.Local {
			case "viewBox":
				width, height = size(t, a.Value)
			case "fill", "stroke":
				colours[a.Value] = true
			case "x", "cx", "y", "cy":
				limit := width
				if a.Name.Local[len(a.Name.Local)-1] == 'y' {
					limit = height
				}
				if v, err := strconv.ParseFloat(a.Value, 64); err != nil || v < 0 || v > limit {
					t.Errorf("%s: %s of %s is %s, outside 0 to %v", path, a.Name.Local, start.Name.Local, a.Value, limit)
				}
			}
		}
	}
	if elements["path"] == 0 || elements["text"] == 0 || len(colours) < 4 {
		t.Errorf("%s: %d paths, %d texts, colours %v", path, elements["path"], elements["text"], colours)
	}
}

// size parses the width and the height of a viewBox.
func size(t *testing.T, box string) (width, height float64) {
	t.Helper()
	m := regexp.MustCompile(`^0 0 (\S+) (\S+)$`).FindStringSubmatch(box)
	if m == nil {
		t.Errorf("viewBox %q", box)
		return 0, 0
	}
	width, _ = strconv.ParseFloat(m[1], 64)
	height, _ = strconv.ParseFloat(m[2], 64)
	return width, height
}
