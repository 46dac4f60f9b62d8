package records

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"io"
	"regexp"
	"slices"

	"heddle/engine/index/build/source"
)

// maxTag is the length in bytes of the longest tag name or character reference, and maxStart the length within
// which a <DOC> with attributes or a </DOC> must be found.
const maxTag, maxStart = 64, 1024

// cutTREC cuts the text between <DOC> and </DOC>.
func cutTREC(s *Input, dst []byte) ([]byte, source.Position, error) {
	n := len(dst)
	at := s.At
	inside := false
	for {
		var err error
		dst, err = s.Delimited(dst, '>', n+s.MaxDocument)
		switch {
		case err == nil && dst[len(dst)-1] == '>':
		case !inside && (err == nil || err == source.ErrTooLong):
			dst = dst[:n] // text before the first document or behind the last
			continue
		case !inside && err == io.EOF && !s.seen && s.At.Offset > 0:
			return dst, at, at.Errorf(s.Path, "no <DOC>")
		case !inside:
			return dst, at, err
		case err == source.ErrTooLong:
			return dst, at, at.Errorf(s.Path, "a document of more than %d bytes", s.MaxDocument)
		case err == nil, err == io.EOF:
			return dst, at, at.Errorf(s.Path, "a <DOC> without </DOC>")
		default:
			return dst, at, err
		}
		tail := dst[max(n, len(dst)-maxStart):]
		start := bytes.LastIndexByte(tail, '<')
		if start < 0 {
			start = len(tail)
		}
		name := tagName(tail[start:])
		switch {
		case !inside && bytes.EqualFold(name, []byte("DOC")):
			inside, s.seen = true, true
			at.Offset = s.At.Offset - int64(len(tail)-start)
			if documentID(tail[start:]) == nil {
				start = len(tail)
			}
			dst = append(dst[:n], tail[start:]...) // a tag with the name stays
		case !inside:
			dst = dst[:n]
		case bytes.EqualFold(name, []byte("/DOC")):
			return dst[:len(dst)-len(tail)+start], at, nil
		}
	}
}

// documentID is the name in a tag <DOC id="…">, as LDC writes it; nil if there is none.
func documentID(tag []byte) []byte {
	if m := idAttribute.FindSubmatch(tag); m != nil {
		return appendText([]byte{}, bytes.TrimSpace(slices.Concat(m[1], m[2])))
	}
	return nil
}

var idAttribute = regexp.MustCompile(`(?i)\sid\s*=\s*(?:"([^"]*)"|'([^']*)')`)

// tagName is the name of the tag that b starts with, a slash in front if it is
// an end tag: of "<a href=x>" it is "a". It is empty if b starts no tag.
func tagName(b []byte) []byte {
	if len(b) < 2 || b[0] != '<' {
		return nil
	}
	n := 1
	if b[n] == '/' {
		n++
	}
	if n == len(b) || !isLetter(b[n]) {
		return nil
	}
	for n < len(b) && n < maxTag && (isLetter(b[n]) || '0' <= b[n] && b[n] <= '9' || b[n] == '-' || b[n] == '_') {
		n++
	}
	return b[1:n]
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// parseTREC reads the content of a <DOC>.
func parseTREC(record []byte, _ source.Position, d *Document) error { return d.parseDOC(record, nil) }

// parseDOC reads the content of a <DOC>, and gives its tags to fields unless it is nil.
func (d *Document) parseDOC(record []byte, fields *elements) error {
	d.Name, d.scratch = nil, d.scratch[:0]
	other, named := []byte(nil), false // other: a name in place of a DOCNO
	for len(record) > 0 {
		open := bytes.IndexByte(record, '<')
		if open < 0 {
			open = len(record)
		}
		d.scratch = appendText(d.scratch, record[:open])
		record = record[open:]
		n := markup(record)
		if n == 0 { // a < that is none
			n = min(1, len(record))
			d.scratch = append(d.scratch, record[:n]...)
			record = record[n:]
			continue
		}
		name, tag := string(bytes.ToUpper(tagName(record))), record[:n]
		record = record[n:]
		d.scratch = append(d.scratch, ' ')
		switch name {
		case "DOC":
			if other == nil {
				other = documentID(tag)
			}
		case "DOCID":
			if content, _, closed := element(record, name); closed && other == nil {
				other = bytes.TrimSpace(content)
			}
			if fields != nil {
				fields.tag(name, d.scratch)
			}
		case "DOCNO", "DOCHDR", "SCRIPT", "STYLE":
			content, rest, closed := element(record, name)
			if record = rest; name == "SCRIPT" || name == "STYLE" {
				continue // not closed, they reach to the end, as in a browser
			}
			if !closed {
				return fmt.Errorf("a <%s> without </%s>", name, name)
			}
			if name == "DOCNO" {
				if named {
					return errors.New("a second <DOCNO>: is a </DOC> missing?")
				}
				named = true
				d.Name = bytes.TrimSpace(content)
			}
		default:
			if fields != nil {
				fields.tag(name, d.scratch)
			}
		}
	}
	if !named {
		d.Name = other
	}
	if len(d.Name) == 0 {
		return errors.New("a <DOC> without a <DOCNO>, an attribute id or a <DOCID>")
	}
	d.Text = d.scratch
	return nil
}

// markup is the length of the tag, comment or declaration that b starts with, 0
// if it starts none. A comment that is not closed reaches to the end.
func markup(b []byte) int {
	if bytes.HasPrefix(b, []byte("<!--")) {
		if end := bytes.Index(b, []byte("-->")); end >= 0 {
			return end + len("-->")
		}
		return len(b)
	}
	if len(b) < 2 || tagName(b) == nil && b[1] != '!' && b[1] != '?' {
		return 0
	}
	end := bytes.IndexAny(b[1:], "<>")
	if end < 0 || b[1+end] == '<' {
		return 0
	}
	return end + 2
}

// element splits b at the end tag of name.
func element(b []byte, name string) (content, rest []byte, closed bool) {
	for i := 0; ; i++ {
		next := bytes.IndexByte(b[i:], '<')
		if next < 0 {
			return b, nil, false
		}
		i += next
		if tag := tagName(b[i:]); len(tag) > 0 && tag[0] == '/' && bytes.EqualFold(tag[1:], []byte(name)) {
			n := markup(b[i:])
			return b[:i], b[i+n:], true
		}
	}
}

// appendText appends b with its character references resolved. A reference of an
// unknown name becomes a space: most such are punctuation of TREC's own.
func appendText(dst, b []byte) []byte {
	for {
		amp := bytes.IndexByte(b, '&')
		if amp < 0 {
			return append(dst, b...)
		}
		dst = append(dst, b[:amp]...)
		b = b[amp:]
		end := bytes.IndexByte(b[:min(len(b), maxTag)], ';')
		if end < 2 || b[1] != '#' && !isName(b[1:end]) {
			dst = append(dst, '&')
			b = b[1:]
			continue
		}
		reference := string(b[:end+1])
		if text := html.UnescapeString(reference); text != reference {
			dst = append(dst, text...)
		} else {
			dst = append(dst, ' ')
		}
		b = b[end+1:]
	}
}

func isName(b []byte) bool {
	for _, c := range b {
		if !isLetter(c) && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// LooksLikeTREC reports whether head is markup and has a <DOC>.
func LooksLikeTREC(head []byte) bool {
	head = Start(head)
	for markup := bytes.HasPrefix(head, []byte("<")); markup; {
		if bytes.EqualFold(tagName(head), []byte("DOC")) {
			return true
		}
		next := bytes.IndexByte(head[1:], '<')
		markup = next >= 0
		head = head[1+max(next, 0):]
	}
	return false
}
