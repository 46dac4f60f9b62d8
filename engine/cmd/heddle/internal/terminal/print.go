// Package terminal prints for people and for programs: log lines, progress bars, JSON
// lines and fields of tables.
package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// WriteJSON writes v as one JSON value on one line.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Field returns s as one field of a TAB-separated line: TAB, LF and CR become spaces.
func Field(s string) string {
	if !strings.ContainsAny(s, "\t\n\r") {
		return s
	}
	return strings.NewReplacer("\t", " ", "\n", " ", "\r", " ").Replace(s)
}

// Printable returns s without control characters and without characters that change
// the direction of writing: each becomes a space. Invalid UTF-8 becomes U+FFFD.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}

// Bytes formats n in the largest binary unit that keeps the number at least 1, with at
// most one decimal.
func Bytes(n uint64) string {
	v, unit := float64(n), "B"
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if v < 1024 {
			break
		}
		v, unit = v/1024, u
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") + " " + unit
}

// Micros is d in microseconds.
func Micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
