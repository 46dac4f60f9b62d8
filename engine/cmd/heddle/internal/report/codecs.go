package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"heddle/codec"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/index/inventory"
)

// why joins the reasons, with counts if there are several.
func why(c *inventory.Codec) string {
	if len(c.Why) == 1 {
		return c.Why[0].Reason
	}
	var parts []string
	for _, r := range c.Why {
		parts = append(parts, fmt.Sprintf("%d %s", r.Lists, r.Reason))
	}
	return strings.Join(parts, "; ")
}

func writeCodecs(b *strings.Builder, codecs []inventory.Codec) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "codec\tlists\tpostings\tbytes\tbytes/posting\tbits/posting\ttime as bits\t  reason\n")
	for _, c := range codecs {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.3f\t%.2f\t%.2f\t  %s\n", c.Codec, c.Lists, c.Postings, c.Bytes, c.BytesPerPosting, c.BitsPerPosting, c.TimeBits, why(&c))
	}
	w.Flush()
}

// Term prints the codec of one list, with its cost under every candidate.
type Term inventory.Term

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
