package codectest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestGenerators(t *testing.T) {
	names := map[string]bool{}
	for _, g := range Generators() {
		if names[g.Name] || strings.ContainsAny(g.Name, " /#") {
			t.Errorf("name %q is used twice or not fit for a subtest", g.Name)
		}
		names[g.Name] = true
		for _, universe := range []uint64{0, 1, 2, 3, 31, 127, 128, 129, 1000, 1 << 20, Universe - 1, Universe} {
			for _, n := range []int{0, 1, 2, 5, 128, 1000, 5000} {
				for seed := range uint64(3) {
					docs := g.List(seed, n, universe)
					for i, d := range docs {
						if uint64(d) >= universe || i > 0 && d <= docs[i-1] {
							t.Fatalf("%s(%d, %d, %d): docID %d at index %d", g.Name, seed, n, universe, d, i)
						}
					}
					if !strings.HasPrefix(g.Name, "length-") && len(docs) > n {
						t.Fatalf("%s(%d, %d, %d): %d docIDs", g.Name, seed, n, universe, len(docs))
					}
					if !slices.Equal(docs, g.List(seed, n, universe)) {
						t.Fatalf("%s(%d, %d, %d) differs from itself", g.Name, seed, n, universe)
					}
				}
			}
		}
	}
}

// The shapes agree with their names.
func TestShapes(t *testing.T) {
	list := func(name string) []uint32 {
		i := slices.IndexFunc(Generators(), func(g Generator) bool { return g.Name == name })
		return Generators()[i].List(7, 1000, Universe)
	}
	last := func(docs []uint32) uint32 { return docs[len(docs)-1] }
	if d := list("dense-run"); last(d)-d[0] != 999 {
		t.Error("dense-run has gaps")
	}
	if d := list("every-kth"); d[2]-d[1] != d[999]-d[998] || d[1]-d[0] < 2 {
		t.Error("every-kth has no constant gap")
	}
	if d := list("ends-at-top"); last(d) != Universe-1 {
		t.Error("ends-at-top does not")
	}
	if d := list("first-and-last"); d[0] != 0 || last(d) != Universe-1 {
		t.Error("first-and-last does not have them")
	}
	if d := list("huge-gap"); !slices.ContainsFunc(d, func(x uint32) bool { return x > 1<<31 }) || d[0] != 0 {
		t.Error("huge-gap has none")
	}
	if d := list("parabola"); d[500] > Universe/3 || last(d) < Universe/4*3 {
		t.Error("parabola is not one")
	}
	if d := list("root"); d[250] < Universe/3 || last(d) != Universe-1 {
		t.Error("root is not one")
	}
	for _, n := range []string{"127", "128", "129", "511", "512", "513"} {
		if d := list("length-" + n); strconv.Itoa(len(d)) != n {
			t.Errorf("length-%s has %d docIDs", n, len(d))
		}
	}
}
