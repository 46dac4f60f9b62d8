package api

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"
)

// Line is a line of a batch of queries: a query and the id that its answer gets.
type Line struct {
	ID json.RawMessage `json:"id"`
	BatchQuery
	k uint32 // memory of K
}

// Read reads a line as ReadJSON reads a body. The ID may be kept. After an error, x holds some fields of the
// line.
func (x *Line) Read(line []byte, room func(bytes int64) error) error {
	if x.scan(line) {
		return nil
	}
	x.ID = nil
	x.BatchQuery.Reset()
	return ReadJSON(line, x, room)
}

// scan reads the usual lines, in a fifth of the time of encoding/json: members id, query, mode, k,
// match, count, literal and total, strings without escapes. It returns false for any other line, and leaves
// it and its errors to encoding/json.
func (x *Line) scan(line []byte) bool {
	x.ID = nil
	x.BatchQuery.Reset()
	s := scanner{line}
	if !s.take('{') {
		return false
	}
	var seen [8]string
	for n := 0; !s.take('}'); n++ {
		if n > 0 && !s.take(',') || n == len(seen) {
			return false
		}
		text, ok := s.text()
		name := string(text)
		if !ok || slices.Contains(seen[:n], name) || !s.take(':') || !x.member(name, &s) {
			return false
		}
		seen[n] = name
	}
	s.space()
	return len(s.rest) == 0
}

// member reads the value of a member.
func (x *Line) member(name string, s *scanner) (ok bool) {
	switch name {
	case "id":
		x.ID, ok = s.id()
	case "query":
		x.Query, ok = s.string()
	case "mode":
		x.Mode, ok = s.string()
	case "k":
		x.k, ok = s.number()
		x.K = &x.k
	case "match":
		x.Match, ok = s.truth()
	case "count":
		x.Count, ok = s.truth()
	case "literal":
		x.Literal, ok = s.truth()
	case "total":
		x.Total, ok = s.total()
	}
	return ok
}

// scanner reads the parts of a JSON text. A part that is not as it expects is false.
type scanner struct{ rest []byte }

func (s *scanner) space() {
	for len(s.rest) > 0 && (s.rest[0] == ' ' || s.rest[0] == '\t' || s.rest[0] == '\r' || s.rest[0] == '\n') {
		s.rest = s.rest[1:]
	}
}

// take reads a character after white space.
func (s *scanner) take(c byte) bool {
	s.space()
	if len(s.rest) == 0 || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// text reads a string without escapes.
func (s *scanner) text() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	for i, c := range s.rest {
		switch {
		case c == '"':
			text := s.rest[:i]
			s.rest = s.rest[i+1:]
			return text, utf8.Valid(text)
		case c == '\\' || c < ' ':
			return nil, false
		}
	}
	return nil, false
}

func (s *scanner) string() (string, bool) {
	text, ok := s.text()
	return string(text), ok
}

// digits reads a whole number of 1 to 9 digits.
func (s *scanner) digits() ([]byte, bool) {
	s.space()
	n := 0
	for n < len(s.rest) && '0' <= s.rest[n] && s.rest[n] <= '9' {
		n++
	}
	if n == 0 || n > 9 || n > 1 && s.rest[0] == '0' || n < len(s.rest) && (s.rest[n] == '.' || s.rest[n]|0x20 == 'e') {
		return nil, false
	}
	text := s.rest[:n]
	s.rest = s.rest[n:]
	return text, true
}

func (s *scanner) number() (n uint32, ok bool) {
	text, ok := s.digits()
	for _, c := range text {
		n = 10*n + uint32(c-'0')
	}
	return n, ok
}

func (s *scanner) truth() (value, ok bool) {
	s.space()
	for _, word := range []string{"true", "false"} {
		if bytes.HasPrefix(s.rest, []byte(word)) {
			s.rest = s.rest[len(word):]
			return word == "true", true
		}
	}
	return false, false
}

// total reads a truth value or a number.
func (s *scanner) total() (*structpb.Value, bool) {
	if value, ok := s.truth(); ok {
		return structpb.NewBoolValue(value), true
	}
	n, ok := s.number()
	return structpb.NewNumberValue(float64(n)), ok
}

// id returns a copy of a string or a number.
func (s *scanner) id() (json.RawMessage, bool) {
	s.space()
	from := s.rest
	_, ok := s.digits()
	if !ok {
		if _, ok = s.text(); !ok {
			return nil, false
		}
	}
	return bytes.Clone(from[:len(from)-len(s.rest)]), true
}
