package report

import (
	"bufio"
	"context"
	"fmt"

	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/index/hdl"
	"heddle/engine/plan"
)

// WriteTerms writes a line for each term of an index.
func WriteTerms(ctx context.Context, f *hdl.File, out *bufio.Writer) error {
	for h := range f.Terms() {
		if h%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		l := f.Source().Lists[h]
		if _, err := fmt.Fprintf(out, "%s\t%d\t%s\t%d\n", terminal.Field(f.Term(plan.Handle(h))), l.Len, l.Codec, 4*uint64(l.Words)); err != nil {
			return err
		}
	}
	return nil
}

// WriteDocument writes the name, the length and the text of a document.
func WriteDocument(f *hdl.File, doc int64, out *bufio.Writer) error {
	if doc < 0 || doc >= int64(f.Docs()) {
		return fmt.Errorf("%s has no document %d: it has %d documents, counted from 0", f.Path(), doc, f.Docs())
	}
	d := uint32(doc)
	name, err := f.DocName(d)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%s\t%d\n", terminal.Field(name), f.DocLen(d)); err != nil || !f.HasDocuments() {
		return err
	}
	document, err := f.Document(d)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, terminal.Text(document))
	return err
}

// WriteList writes a line for each posting of a list.
func WriteList(f *hdl.File, h plan.Handle, out *bufio.Writer) error {
	docs, err := f.Source().List(h).AppendTo(nil)
	if err != nil {
		return fmt.Errorf("%s: term %q: %w", f.Path(), f.Term(h), err)
	}
	freqs, err := f.Freqs(nil, h)
	if err != nil {
		return err
	}
	var values []uint32
	if f.HasPositions() {
		if values, err = f.Positions(nil, h); err != nil {
			return err
		}
	}
	for i, d := range docs {
		fmt.Fprintf(out, "%d\t%d", d, freqs[i])
		if f.HasPositions() {
			own, separator, next := values[:freqs[i]], '\t', uint32(0)
			for _, gap := range own {
				fmt.Fprintf(out, "%c%d", separator, next+gap)
				separator, next = ' ', next+gap+1
			}
			values = values[len(own):]
		}
		if err := out.WriteByte('\n'); err != nil {
			return err
		}
	}
	return nil
}
