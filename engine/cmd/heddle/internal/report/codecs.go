package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"heddle/codec"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/index/hdl"
	"heddle/engine/plan"
)

// Codec sums the lists of one codec.
type Codec struct {
	Codec           string   `json:"codec"`
	Lists           uint64   `json:"lists"`
	Postings        uint64   `json:"postings"`
	Bytes           uint64   `json:"bytes"` // of docIDs
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

// codecs sums the lists of a file by codec and reason.
func codecs(f *hdl.File) []Codec {
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

// why joins the reasons, with counts if there are several.
func (c *Codec) why() string {
	if len(c.Why) == 1 {
		return c.Why[0].Reason
	}
	var parts []string
	for _, r := range c.Why {
		parts = append(parts, fmt.Sprintf("%d %s", r.Lists, r.Reason))
	}
	return strings.Join(parts, "; ")
}

func writeCodecs(b *strings.Builder, codecs []Codec) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "codec\tlists\tpostings\tbytes\tbytes/posting\tbits/posting\ttime as bits\t  reason\n")
	for _, c := range codecs {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.3f\t%.2f\t%.2f\t  %s\n", c.Codec, c.Lists, c.Postings, c.Bytes, c.BytesPerPosting, c.BitsPerPosting, c.TimeBits, c.why())
	}
	w.Flush()
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

// NewTerm computes the cost of a term's list under every codec that "auto" compares.
func NewTerm(f *hdl.File, term string) (*Term, error) {
	h, ok := f.Lookup(term)
	if !ok {
		return nil, fmt.Errorf("%s has no term %q", f.Path(), term)
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

// Write writes the costs as a table.
func (t *Term) Write(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d postings, %s: %s\n%s\n\n", terminal.Field(t.Term), t.Len, t.Codec, t.Why, codec.CostRule)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "codec\tbytes\tbits/posting\ttime as bits\tcost\t\n")
	for _, c := range t.Codecs {
		fmt.Fprintf(w, "%s\t%d\t%.2f\t%.2f\t%.2f\t\n", c.Codec, c.Bytes, c.Bits, c.TimeBits, c.Cost)
	}
	w.Flush()
	_, err := io.WriteString(out, b.String())
	return err
}
