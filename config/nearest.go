package config

import (
	"fmt"
	"slices"
	"strings"
)

// distance returns the Levenshtein distance of a and b in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// Nearest returns the candidate with the smallest edit distance to s, and the first one
// of several. It needs at least one candidate.
func Nearest(s string, candidates []string) string {
	return slices.MinFunc(candidates, func(a, b string) int {
		return distance(s, a) - distance(s, b)
	})
}

// NotOneOf describes a value that is none of the possible ones, and names the nearest.
func NotOneOf(s string, values []string) error {
	return fmt.Errorf("%q is not one of %s (nearest: %q)", shorten(s), strings.Join(values, ", "), Nearest(s, values))
}

// unknownKey describes an unknown key and names the nearest one. A key in the wrong
// section is near.
func unknownKey(name string) string {
	_, last, _ := strings.Cut(name, ".")
	best := slices.MinFunc(keys, func(a, b Key) int {
		return keyDistance(name, last, a) - keyDistance(name, last, b)
	})
	return fmt.Sprintf("unknown key %q (nearest: %q)", shorten(name), best.Name)
}

// unknownSection describes an unknown section and names the nearest one.
func unknownSection(name string) string {
	return fmt.Sprintf("unknown section [%s] (nearest: [%s])", shorten(name), Nearest(name, sections()))
}

// sections returns the sections in the order of the table.
func sections() []string {
	var names []string
	for _, k := range keys {
		if !slices.Contains(names, k.Section()) {
			names = append(names, k.Section())
		}
	}
	return names
}

func keyDistance(name, last string, k Key) int {
	_, own, _ := strings.Cut(k.Name, ".")
	if own == last {
		return min(1, distance(name, k.Name))
	}
	return distance(name, k.Name)
}

// shorten limits a name in an error message.
func shorten(name string) string {
	if len(name) > 60 {
		return name[:60] + "…"
	}
	return name
}
