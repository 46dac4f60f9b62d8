// Package order answers ranked queries whose documents have another order than the descending score, or begin behind a
// cursor. The processor that matches the query finds the first documents by the score or the attributes in front of the
// order, some more than the answer has. Pure Go puts these in order, by exact scores and the values of attributes, and
// applies boost, least score, cursor and groups. If a document that is not among them may belong to the answer, more are
// asked for, in the end all. So all backends give equal answers.
package order

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"heddle/engine/internal/query"
	"heddle/engine/syntax"
)

// Score is the name of the score among the keys of an order.
const Score = "score"

// Key is a part of an order.
type Key struct {
	Column     string // empty: the score
	Descending bool
}

// String is the key as Parse reads it.
func (k Key) String() string {
	name := cmp.Or(k.Column, Score)
	if k.Descending {
		return name + " desc"
	}
	return name + " asc"
}

// Spec is an order of the documents of a query, and the part of them that an answer has. It must not change.
type Spec struct {
	// Keys are the order; ties are in the order of the documents. A document without a value comes last. Empty: the
	// descending score.
	Keys []Key
	// MinScore is the least score of a document.
	MinScore float64
	// After is the place behind which the answer begins. Default: nil, the first document.
	After *Place
	// Boost is added to the score. Default: nil, none.
	Boost *Boost
	// Collapse keeps the first Most documents with a value of this column. Documents without a value are one group.
	// Default: "", all documents.
	Collapse string
	Most     int
}

// Place is the place of a document in an order.
type Place struct {
	Values []Value // by key; the score has none
	Score  float64
	Doc    uint64 // number in the whole
	Group  Value  // of Spec.Collapse
}

// Value is the value of an attribute, in an order that all parts of an index share.
type Value struct {
	Missing bool   `json:"m,omitempty"`
	Number  uint64 `json:"n,omitempty"` // of a type without a dictionary
	Text    []byte `json:"t,omitempty"` // of a type with one
}

// Key tells the value from other values of its column.
func (v Value) Key() string {
	if v.Missing {
		return ""
	}
	return string(append(binary.BigEndian.AppendUint64(nil, v.Number), v.Text...))
}

// Parse reads keys such as "year desc", "year" and "score". An attribute ascends, and the score descends, unless the key
// says more. The error names the key.
func Parse(all []string) (keys []Key, err error) {
	for i, text := range all {
		name, direction := strings.TrimSpace(text), ""
		if at := strings.LastIndexByte(name, ' '); at >= 0 {
			if d := strings.ToLower(name[at+1:]); d == "asc" || d == "desc" {
				name, direction = strings.TrimSpace(name[:at]), d
			}
		}
		k := Key{Column: name, Descending: direction == "desc"}
		if name == Score {
			k = Key{Descending: direction != "asc"}
		} else if name == "" {
			return nil, query.Option(fmt.Errorf("sort[%d] is %s: want a column or score, and asc or desc", i, syntax.Quote(text)))
		}
		if slices.ContainsFunc(keys, func(o Key) bool { return o.Column == k.Column }) {
			return nil, query.Option(fmt.Errorf("sort[%d]: %s comes twice", i, syntax.Quote(name)))
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// keys are the keys of the order.
func (s *Spec) keys() []Key {
	if len(s.Keys) == 0 {
		return []Key{{Descending: true}}
	}
	return s.Keys
}

// Columns are the attributes of the order.
func (s *Spec) Columns() (names []string) {
	for _, k := range s.Keys {
		if k.Column != "" {
			names = append(names, k.Column)
		}
	}
	return names
}

// Attributes are the attributes of the order, of its groups and of its boost.
func (s *Spec) Attributes() []string {
	names := s.Columns()
	if s.Collapse != "" {
		names = append(names, s.Collapse)
	}
	if s.Boost != nil {
		names = append(names, s.Boost.Column)
	}
	return names
}

// Whole reports whether the order is the descending score of all documents, from the first one on: a batch then
// answers the query.
func (s *Spec) Whole() bool {
	return len(s.Keys) == 0 && s.MinScore == 0 && s.After == nil && s.Collapse == "" && s.Boost == nil
}

// compare compares two values; a missing one is last in both directions.
func (k Key) compare(a, b Value) int {
	if a.Missing || b.Missing {
		return cmp.Compare(number(a.Missing), number(b.Missing))
	}
	c := cmp.Or(cmp.Compare(a.Number, b.Number), slices.Compare(a.Text, b.Text))
	if k.Descending {
		return -c
	}
	return c
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

// MostCollapsed is the greatest Spec.Most, which bounds the memory of a query.
const MostCollapsed = 100

// Compare compares the places of two documents.
func (s *Spec) Compare(a, b *Place) int {
	for i, n := 0, 0; i < len(s.keys()); i++ {
		k, c := s.keys()[i], 0
		if k.Column == "" {
			if c = cmp.Compare(a.Score, b.Score); k.Descending {
				c = -c
			}
		} else {
			c = k.compare(a.Values[n], b.Values[n])
			n++
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(a.Doc, b.Doc)
}

// needsScores reports whether the order of documents depends on scores.
func (s *Spec) needsScores() bool {
	return s.MinScore > 0 || slices.ContainsFunc(s.keys(), func(k Key) bool { return k.Column == "" })
}
