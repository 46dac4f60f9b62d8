// Package terminal prints for people and for programs: log lines, progress bars, JSON
// lines and text. Text from files reaches a terminal through Field, Text or Writer, because
// control characters in it might change the terminal.
package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// WriteJSON writes v as one JSON value on one line.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
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
