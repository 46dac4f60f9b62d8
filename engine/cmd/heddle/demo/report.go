package demo

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"heddle/engine/index/build"
	"heddle/engine/plan"
)

const (
	queryWidth = 30
	verseWidth = 44
)

// reportIndex describes the index.
func reportIndex(w io.Writer, path string, built build.Summary, took time.Duration) {
	fmt.Fprintf(w, "King James Bible: %s verses, %s words, indexed in %.2f s into %s (%.1f MB)\n\n",
		thousands(built.Documents), thousands(built.Tokens), took.Seconds(), path, float64(built.FileBytes)/1e6)
}

// report writes the table: for each query the number of verses, the first verse, and the
// time on each backend.
func report(w io.Writer, backends []*backend, verses []verse, answers [][]uint32) {
	for _, b := range backends {
		fmt.Fprintf(w, "%-9s %s\n", b.label, describe(b.info))
	}
	fmt.Fprintf(w, "\n%-*s %7s  %-*s", queryWidth, "query", "verses", verseWidth, "first verse")
	for _, b := range backends {
		fmt.Fprintf(w, " %10s", b.label)
	}
	fmt.Fprintln(w)
	for i, q := range queries {
		first := ""
		if len(answers[i]) > 0 {
			v := verses[answers[i][0]]
			first = v.ref + " " + v.text
		}
		fmt.Fprintf(w, "%-*s %7s  %-*s", queryWidth, cut(q, queryWidth), thousands(uint64(len(answers[i]))), verseWidth, cut(first, verseWidth))
		for _, b := range backends {
			fmt.Fprintf(w, " %10s", microseconds(b.times[i]))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%-*s %7s  %-*s", queryWidth, "queries per second, batched", "", verseWidth, "")
	for _, b := range backends {
		fmt.Fprintf(w, " %10s", thousands(uint64(b.rate)))
	}
	fmt.Fprintln(w)
}

func describe(i plan.Info) string {
	if i.Platform == "" {
		return i.Device
	}
	return i.Device + ", " + i.Platform
}

// cut shortens s, which is ASCII, to n characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.TrimRight(s[:n-1], " ,;:") + "…"
}

func microseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f µs", float64(d.Nanoseconds())/1e3)
}

func thousands(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
