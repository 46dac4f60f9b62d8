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

// Nearest returns the candidate with the smallest edit distance to s, and the first one of several.
// It returns "" if none is near: at
// most half of the letters may differ.
func Nearest(s string, candidates []string) string {
	best, least := "", len(s)/2+1
	for _, c := range candidates {
		if d := distance(s, c); d < least && d < len(s) {
			best, least = c, d
		}
	}
	return best
}

// Hint names the nearest candidate in parentheses, for the end of an error message. It returns "" if
// none is near.
func Hint(format, s string, candidates []string) string {
	if near := Nearest(s, candidates); near != "" {
		return fmt.Sprintf(" (nearest: "+format+")", near)
	}
	return ""
}

// NotOneOf describes a value that is none of the possible ones.
func NotOneOf(s string, values []string) error {
	return fmt.Errorf("%q is not one of %s%s", shorten(s), strings.Join(values, ", "), Hint("%q", s, values))
}

// unknownKey describes an unknown key and names the nearest one. A key in the wrong
// section is near.
func unknownKey(name string) string {
	_, last, _ := strings.Cut(name, ".")
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
		if _, own, _ := strings.Cut(k.Name, "."); own == last {
			return fmt.Sprintf("unknown key %q (nearest: %q)", shorten(name), k.Name)
		}
	}
	return fmt.Sprintf("unknown key %q%s", shorten(name), Hint("%q", name, names))
}

// unknownSection describes an unknown section and names the nearest one.
func unknownSection(name string) string {
	return fmt.Sprintf("unknown section [%s]%s", shorten(name), Hint("[%s]", name, sections()))
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

// shorten limits a name in an error message.
func shorten(name string) string {
	if len(name) > 60 {
		return name[:60] + "…"
	}
	return name
}
