package main

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"heddle/engine/index/hdl"
)

// writeJSON writes v as one JSON object on one line.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// field makes s fit for a field of a TAB-separated line: TAB and line ends, which
// names may hold, become spaces.
func field(s string) string {
	if !strings.ContainsAny(s, "\t\n\r") {
		return s
	}
	return strings.NewReplacer("\t", " ", "\n", " ", "\r", " ").Replace(s)
}

// docName is the name of a document, or its docID if it has none.
func docName(f *hdl.File, d uint32) string {
	if name := f.DocName(d); name != "" {
		return name
	}
	return strconv.FormatUint(uint64(d), 10)
}
