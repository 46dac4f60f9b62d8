package structure

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestArchitecture checks that the paths in engine/ARCHITECTURE.md exist, and that it lists
// all parts of the engine. A path with an upper-case name such as codec/NAME.go is a pattern.
func TestArchitecture(t *testing.T) {
	page, err := os.ReadFile("../../engine/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	pattern := regexp.MustCompile(`^[A-Z]+\.go$`)
	for _, m := range regexp.MustCompile("`([.a-z][a-z0-9_.]*(?:/[a-zA-Z0-9_.]+)+)`").FindAllStringSubmatch(string(page), -1) {
		name := m[1]
		listed[name] = true
		if pattern.MatchString(filepath.Base(name)) {
			name = filepath.Dir(name)
		}
		if _, err := os.Stat("../../" + name); err != nil {
			t.Errorf("engine/ARCHITECTURE.md names %s, which does not exist", name)
		}
	}
	parts, err := filepath.Glob("../../engine/internal/*")
	if err != nil || len(parts) == 0 || len(listed) < 40 {
		t.Fatalf("%d parts of the engine, %d paths, %v", len(parts), len(listed), err)
	}
	for _, p := range parts {
		if p = strings.TrimPrefix(p, "../../"); !listed[p] {
			t.Errorf("engine/ARCHITECTURE.md does not list %s", p)
		}
	}
}

// TestPlaces bounds the number of places that an extension touches. Each section of
// engine/ARCHITECTURE.md lists the places of one extension as a numbered list.
func TestPlaces(t *testing.T) {
	page, err := os.ReadFile("../../engine/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	item := regexp.MustCompile(`(?m)^\d+\. `)
	for section, most := range map[string]int{"codec": 6, "intersection algorithm": 4, "aggregate": 6} {
		_, text, found := strings.Cut(string(page), "\n## A new "+section+"\n")
		text, _, _ = strings.Cut(text, "\n## ")
		if n := len(item.FindAllString(text, -1)); !found || n == 0 || n > most {
			t.Errorf("section %q: found %v, %d places, at most %d", section, found, n, most)
		}
	}
}
