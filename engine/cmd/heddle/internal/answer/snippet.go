package answer

import (
	"strings"

	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/terminal"
)

// snippetWidth is the default of the approximate length of a snippet, in bytes of the text.
const snippetWidth = 150

// fields returns the parts of documents that are printed for people beside the parts of f: a snippet of a stored text.
func (w *Writer) fields(f *engine.Fields, x *engine.Snapshot) *engine.Fields {
	if w.Format != "text" || !x.File().HasDocuments() || f != nil && (f.Snippet != nil || f.Source) {
		return f
	}
	var all engine.Fields
	if f != nil {
		all = *f
	}
	all.Snippet = &engine.Snippet{Size: snippetWidth, Mark: Mark, Escape: true}
	return &all
}

// Mark are the marks of words of the query. An escaped text has no other tags.
var Mark = [2]string{"<b>", "</b>"}

// snippet returns a snippet with Mark and escaped text on one printable line, with its words of the query in bold or
// between stars.
func (w *Writer) snippet(s string) string {
	on, off := "*", "*"
	if w.Bold {
		on, off = "\x1b[1m", "\x1b[22m"
	}
	plain := strings.NewReplacer(Mark[0], on, Mark[1], off, "&lt;", "<", "&gt;", ">", "&amp;", "&", "&#39;", "'", "&#34;", `"`)
	return plain.Replace(terminal.Field(strings.Join(strings.Fields(s), " ")))
}
