package benchtest

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// CheckPictures checks the pictures that a section of a report links.
func CheckPictures(t *testing.T, dir, section string) {
	t.Helper()
	links := regexp.MustCompile(`\]\((.*?)\.svg\)`).FindAllStringSubmatch(section, -1)
	if len(links) == 0 {
		t.Errorf("no picture in\n%s", section)
	}
	for _, l := range links {
		base := filepath.Join(dir, filepath.FromSlash(l[1]))
		svg, err := os.ReadFile(base + ".svg")
		if err != nil || !bytes.Contains(svg, []byte("</svg>")) || !bytes.Contains(svg, []byte("<path")) {
			t.Errorf("%s.svg: %v, %d bytes", base, err, len(svg))
		}
		f, err := os.Open(base + ".png")
		if err != nil {
			t.Error(err)
			continue
		}
		img, err := png.Decode(f)
		f.Close()
		if err != nil {
			t.Errorf("%s.png: %v", base, err)
			continue
		}
		colours := make(map[any]bool)
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				colours[img.At(x, y)] = true
			}
		}
		if len(colours) < 5 {
			t.Errorf("%s.png has %d colours", base, len(colours))
		}
	}
}
