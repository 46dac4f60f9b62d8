package api

import (
	"cmp"
	"errors"
	"fmt"

	"heddle/engine/internal/fetch"
	"heddle/engine/syntax"
)

// defaultSnippet is the size of a snippet whose request names none, in bytes.
const defaultSnippet = 200

// SnippetOf is the snippet of a message; nil for nil.
func SnippetOf(m *Snippet) (*fetch.Snippet, error) {
	if m == nil {
		return nil, nil
	}
	s := &fetch.Snippet{Size: int(cmp.Or(m.GetSize(), defaultSnippet)), Mark: [2]string{"<b>", "</b>"}}
	switch escape := m.GetEscape(); escape {
	case "", "html":
		s.Escape = true
	case "none":
	default:
		return nil, fmt.Errorf("snippet.escape: want html or none, found %s", syntax.Quote(escape))
	}
	switch mark := m.GetMark(); len(mark) {
	case 0:
	case 2:
		s.Mark = [2]string(mark)
	default:
		return nil, errors.New("snippet.mark: want two texts, before and behind a word")
	}
	return s, nil
}

// ContentsOf is the message of the parts of a document, without its name.
func ContentsOf(d *fetch.Document) *Contents {
	return &Contents{Fields: string(d.Members), Source: string(d.Source), Snippet: d.Snippet, Attributes: string(d.Attributes)}
}
