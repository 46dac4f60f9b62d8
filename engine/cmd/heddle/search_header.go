package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"heddle/engine"
)

// runHeader is what a person needs to repeat a run, as names and values in order.
type runHeader []setting

type setting struct {
	name  string
	value any
}

// describeRun describes ranking on x by opt; statistics is the file that they came
// from, if any.
func describeRun(x *engine.Index, opt *engine.RankOptions, statistics string) runHeader {
	b, f, backend := thisBuild(), x.File(), x.Backend()
	h := runHeader{{"version", b.Version}}
	if b.Revision != "" {
		h = append(h, setting{"revision", b.Revision})
	}
	h = append(h, setting{"mode", opt.Mode.String()}, setting{"k", opt.K})
	if p := opt.Scoring; p != nil {
		h = append(h, setting{"variant", p.Variant.String()}, setting{"k1", p.K1}, setting{"b", p.B})
	} else {
		m := f.Meta().Impacts
		h = append(h, setting{"impacts", m.Bits}, setting{"scale", m.Scale}, setting{"variant", cmp.Or(m.Variant, m.Origin)})
		if m.Variant != "" {
			h = append(h, setting{"k1", m.K1}, setting{"b", m.B})
		}
	}
	if statistics != "" {
		h = append(h, setting{"statistics", statistics})
	}
	return append(h, setting{"index", f.Path()}, setting{"checksum", fmt.Sprintf("%016x", f.Checksum())},
		setting{"backend", backend.Kind}, setting{"device", backend.Device})
}

// String gives NAME=VALUE for each, a value with spaces between quotes.
func (h runHeader) String() string {
	var b strings.Builder
	for _, s := range h {
		value := fmt.Sprint(s.value)
		if quoted := fmt.Sprintf("%q", value); strings.ContainsAny(quoted, ` \`) || value == "" {
			value = quoted
		}
		fmt.Fprintf(&b, " %s=%s", s.name, value)
	}
	return b.String()
}

// write writes the header in the format of w, before the first answer. A run file
// has no place for it but the tag, so it goes to stderr then.
func (h runHeader) write(w *answerWriter, stderr io.Writer) error {
	switch w.format {
	case "jsonl":
		run := map[string]any{}
		for _, s := range h {
			run[s.name] = s.value
		}
		return writeJSON(w.out, map[string]any{"run": run})
	case "trec":
		_, err := fmt.Fprintf(stderr, "# heddle%s\n", h)
		return err
	}
	_, err := fmt.Fprintf(w.out, "# heddle%s\n", h)
	return err
}

// tag names the run in a run file, as heddle-or-10-lucene-0.9-0.4: all but what
// concerns one machine or one index.
func (h runHeader) tag() string {
	tag := "heddle"
	for _, s := range h {
		switch s.name {
		case "mode", "k", "impacts", "variant", "k1", "b":
			tag += fmt.Sprintf("-%v", s.value)
		}
	}
	return tag
}
