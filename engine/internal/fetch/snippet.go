package fetch

import (
	"html"
	"strings"

	"heddle/engine/index/snippet"
)

// Snippet says how snippets look: see engine.Snippet.
type Snippet struct {
	Size   int       // about the number of bytes of the text
	Mark   [2]string // before and behind a word of the query
	Escape bool      // the text is escaped for HTML; the marks are not
}

// maxSnippet bounds Snippet.Size.
const maxSnippet = 100_000

// mark writes a part of a text with marks. A cut text has dots at its end.
func (s *Snippet) mark(text string, part snippet.Snippet) string {
	var b strings.Builder
	write := func(piece string) {
		piece = strings.ToValidUTF8(piece, "\uFFFD")
		if s.Escape {
			piece = html.EscapeString(piece)
		}
		b.WriteString(piece)
	}
	if part.Start > 0 {
		b.WriteString("… ")
	}
	at := part.Start
	for _, m := range part.Marks {
		write(text[at:m.Start])
		b.WriteString(s.Mark[0])
		write(text[m.Start:m.End])
		b.WriteString(s.Mark[1])
		at = m.End
	}
	write(text[at:part.End])
	if part.End < len(text) {
		b.WriteString(" …")
	}
	return b.String()
}
