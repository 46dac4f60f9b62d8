// Package inventory describes the posting lists of an index file: their codecs, sizes and costs.
// The JSON of its types is part of the contract of the command line.
package inventory

import (
	"errors"
	"fmt"

	"heddle/codec"
	"heddle/engine/index/hdl"
	"heddle/engine/plan"
)

// Codec sums the lists of one codec.
type Codec struct {
	Codec           string   `json:"codec"`
	Lists           uint64   `json:"lists"`
	Postings        uint64   `json:"postings"`
	Bytes           uint64   `json:"bytes"` // bytes of the encoded docIDs
	BytesPerPosting float64  `json:"bytes_per_posting"`
	BitsPerPosting  float64  `json:"bits_per_posting"`
	TimeBits        float64  `json:"time_bits"` // decoding time, as bits a posting
	Why             []Reason `json:"why"`
}

// Reason is the number of lists that have their codec for one reason.
type Reason struct {
	Reason string `json:"reason"`
	Lists  uint64 `json:"lists"`
}

// Codecs sums the lists of a file by codec and reason.
func Codecs(f *hdl.File) []Codec {
	var sums [256]Codec
	var why [256][codec.LeastCost + 1]uint64
	for h, l := range f.Source().Lists {
		c := &sums[l.Codec]
		c.Lists++
		c.Postings += uint64(l.Len)
		c.Bytes += 4 * uint64(l.Words)
		why[l.Codec][f.Reason(plan.Handle(h))]++
	}
	all := []Codec{}
	for i, c := range sums {
		if c.Lists == 0 {
			continue
		}
		c.Codec = codec.ID(i).String()
		if c.Postings > 0 {
			c.BytesPerPosting = float64(c.Bytes) / float64(c.Postings)
		}
		c.BitsPerPosting, c.TimeBits = codec.Cost(codec.ID(i), int(c.Postings), int(c.Bytes/4))
		for r, n := range why[i] {
			if n > 0 {
				c.Why = append(c.Why, Reason{codec.Reason(r).String(), n})
			}
		}
		all = append(all, c)
	}
	return all
}

// Term is the codec of one list, with its cost under every candidate.
type Term struct {
	Term   string `json:"term"`
	Len    uint32 `json:"postings"`
	Codec  string `json:"codec"`
	Why    string `json:"why"`
	Codecs []Cost `json:"codecs"`
}

// Cost is the cost of a list under one codec: bits and decoding time per posting.
type Cost struct {
	Codec    string  `json:"codec"`
	Bytes    uint64  `json:"bytes"`
	Bits     float64 `json:"bits_per_posting"`
	TimeBits float64 `json:"time_bits"`
	Cost     float64 `json:"cost"`
}

// ErrUnknown is the error for a term that the index does not have.
var ErrUnknown = errors.New("no term")

// OfTerm computes the cost of a term's list under every codec that "auto" compares. The error wraps
// ErrUnknown for an unknown term.
func OfTerm(f *hdl.File, term string) (*Term, error) {
	h, ok := f.Lookup(term)
	if !ok {
		return nil, fmt.Errorf("%s has %w %q", f.Path(), ErrUnknown, term)
	}
	l := f.Source().List(h)
	docs, err := l.AppendTo(nil)
	if err != nil {
		return nil, fmt.Errorf("%s: term %q: %w", f.Path(), term, err)
	}
	t := &Term{Term: term, Len: l.Len, Codec: l.Codec.String(), Why: f.Reason(h).String()}
	opt := codec.DefaultOptions()
	opt.ExceptionRatio = f.Meta().ExceptionRatio
	for _, id := range codec.Candidates() {
		words := codec.Size(id, docs, opt)
		bits, time := codec.Cost(id, len(docs), words)
		t.Codecs = append(t.Codecs, Cost{id.String(), 4 * uint64(words), bits, time, bits + time})
	}
	return t, nil
}
