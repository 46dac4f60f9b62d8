package workload

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"strings"

	"heddle/engine/plan"
)

// ExportOptions are the options of Export.
type ExportOptions struct {
	Dir    string  // created if it does not exist
	Seed   uint64  // default: 1
	Short  bool    // one theme of MaxThemes
	Orders []Order // default: uniform and clustered

	docs uint32 // number of documents, for tests; default: DocCount
}

// Export writes the workload and its queries to opt.Dir for other engines to run,
// once an order, under the base name gov-ORDER:
//
//	.docs .freqs .sizes   the lists, as a PISA collection
//	.terms .documents     a name a line
//	.queries              id TAB terms, a line each, for heddle search
//	.queries.pisa         id:terms, as PISA reads them
//
// Frequencies are geometric with a mean of two, document lengths are their sums.
// It names the files on stdout. The files get their names when all are written;
// after an error none of them is there.
func Export(ctx context.Context, opt ExportOptions, stdout, stderr io.Writer) (err error) {
	themes, orders := MaxThemes, opt.Orders
	if opt.Short {
		themes = 1
	}
	if len(orders) == 0 {
		orders = []Order{Uniform, Clustered}
	}
	if err := os.MkdirAll(opt.Dir, 0o777); err != nil {
		return err
	}
	files := &exported{}
	defer func() { err = errors.Join(err, files.finish(err == nil, stdout)) }()
	for _, order := range orders {
		w, err := Generate(ctx, cmp.Or(opt.Seed, 1), themes, order, cmp.Or(opt.docs, DocCount))
		if err != nil {
			return err
		}
		fmt.Fprintf(stderr, "writing %s: %d documents, %d lists, %d postings, %d queries\n",
			w.Name(), w.Source.Docs, len(w.Terms), w.Postings(), len(w.Queries))
		if err := w.export(ctx, files, filepath.Join(opt.Dir, "gov-"+order.String())); err != nil {
			return err
		}
	}
	return nil
}

func (w *Workload) export(ctx context.Context, files *exported, base string) error {
	lengths := make([]uint32, w.Source.Docs)
	err := files.write(base+".docs", func(docs *bufio.Writer) error {
		return files.write(base+".freqs", func(freqs *bufio.Writer) error {
			WriteSequence(docs, []uint32{w.Source.Docs})
			var buf []uint32
			for h := range w.Source.Lists {
				if err := ctx.Err(); err != nil {
					return err
				}
				list := w.List(plan.Handle(h))
				WriteSequence(docs, list)
				buf = w.freqs(buf[:0], plan.Handle(h), len(list))
				WriteSequence(freqs, buf)
				for i, d := range list {
					lengths[d] += buf[i]
				}
			}
			return nil
		})
	})
	texts := []struct {
		suffix string
		line   func(b *bufio.Writer, i int)
		n      int
	}{
		{".terms", func(b *bufio.Writer, i int) { b.WriteString(w.Terms[i]) }, len(w.Terms)},
		{".documents", func(b *bufio.Writer, i int) { fmt.Fprintf(b, "d%07d", i) }, len(lengths)},
		{".queries", func(b *bufio.Writer, i int) { fmt.Fprintf(b, "%d\t%s", i+1, w.text(i)) }, len(w.Queries)},
		{".queries.pisa", func(b *bufio.Writer, i int) { fmt.Fprintf(b, "%d:%s", i+1, w.text(i)) }, len(w.Queries)},
	}
	if err == nil {
		err = files.write(base+".sizes", func(b *bufio.Writer) error { WriteSequence(b, lengths); return nil })
	}
	for _, t := range texts {
		if err == nil {
			err = files.write(base+t.suffix, func(b *bufio.Writer) error {
				for i := range t.n {
					t.line(b, i)
					b.WriteByte('\n')
				}
				return nil
			})
		}
	}
	return err
}

// text returns the terms of query i, separated by spaces.
func (w *Workload) text(i int) string {
	var terms []string
	for _, h := range w.Queries[i] {
		terms = append(terms, w.Terms[h])
	}
	return strings.Join(terms, " ")
}

// freqs appends the term frequencies of list h.
func (w *Workload) freqs(dst []uint32, h plan.Handle, n int) []uint32 {
	r := NewRandom(w.Seed, streamFreqs, uint64(h))
	for range n {
		dst = append(dst, uint32(1+bits.TrailingZeros64(r.Uint64()|1<<20)))
	}
	return dst
}

// WriteSequence writes the number of values and the values. b keeps errors.
func WriteSequence(b *bufio.Writer, values []uint32) {
	word := func(v uint32) { b.Write(binary.LittleEndian.AppendUint32(b.AvailableBuffer(), v)) }
	word(uint32(len(values)))
	for _, v := range values {
		word(v)
	}
}

// exported collects files with temporary names.
type exported struct{ paths []string }

const temporary = ".part"

// write creates one file. Errors of f's output may appear only at the flush.
func (e *exported) write(path string, f func(b *bufio.Writer) error) error {
	file, err := os.Create(path + temporary)
	if err != nil {
		return err
	}
	e.paths = append(e.paths, path)
	b := bufio.NewWriterSize(file, 1<<20)
	if err = f(b); err == nil {
		err = b.Flush()
	}
	return errors.Join(err, file.Close())
}

// finish renames the files, or removes them after an error.
func (e *exported) finish(ok bool, stdout io.Writer) error {
	var errs []error
	for _, path := range e.paths {
		if !ok {
			errs = append(errs, os.Remove(path+temporary))
			continue
		}
		if err := os.Rename(path+temporary, path); err != nil {
			errs = append(errs, err, os.Remove(path+temporary))
			continue
		}
		fmt.Fprintln(stdout, path)
	}
	return errors.Join(errs...)
}
