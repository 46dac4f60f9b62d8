package order

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"heddle/engine/failure"
	"heddle/engine/internal/query"
)

// Begin is the cursor before the first document.
const Begin = "*"

// cursor is the content of a cursor.
type cursor struct {
	Generation string  `json:"g"`
	Keys       string  `json:"k"`
	Values     []Value `json:"v,omitempty"`
	Score      uint64  `json:"s"` // bits
	Doc        uint64  `json:"d"`
}

// signature tells orders apart.
func (s *Spec) signature() string {
	var names []string
	for _, k := range s.keys() {
		names = append(names, k.String())
	}
	if s.Collapse != "" {
		names = append(names, fmt.Sprintf("collapse %s %d", s.Collapse, s.Most))
	}
	if b := s.Boost; b != nil {
		names = append(names, fmt.Sprintf("boost %s %s %s %v", b.Column, b.From, b.To, b.Weight))
	}
	return strings.Join(names, ",")
}

// Cursor returns the cursor of a place in a generation of an index.
func (s *Spec) Cursor(generation string, p *Place) string {
	text, err := json.Marshal(cursor{generation, s.signature(), p.Values, math.Float64bits(p.Score), p.Doc})
	if err != nil {
		panic(err) // numbers and texts always succeed
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// read reads a cursor.
func read(text string) (c cursor, err error) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	return c, err
}

// GenerationOf returns the generation of a cursor; empty for a text that is none.
func GenerationOf(text string) string {
	c, _ := read(text)
	return c.Generation
}

// ReadCursor sets s.After from a cursor, which may be Begin. The error of a cursor of another generation has code
// failure.Gone.
func (s *Spec) ReadCursor(text, generation string) error {
	if text == Begin {
		return nil
	}
	c, err := read(text)
	values := len(s.Columns())
	score := math.Float64frombits(c.Score)
	switch {
	case err != nil || len(c.Values) != values && c.Keys == s.signature() || math.IsNaN(score):
		return query.Option(errors.New(`after: it is no cursor: want "*" for the first page, then the member after of the reply`))
	case c.Keys != s.signature():
		return query.Option(fmt.Errorf("after: the cursor is of the order %s, the query has the order %s", c.Keys, s.signature()))
	case c.Generation != generation:
		return &failure.Error{Code: failure.Gone, Op: "search", Err: errors.New("after: the content of the index or of its attributes has changed since the page before: begin again with \"*\"")}
	}
	s.After = &Place{Values: c.Values, Score: score, Doc: c.Doc}
	return nil
}
