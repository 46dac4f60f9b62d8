package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/read"
)

type bitmapInfoOptions struct {
	path   string
	column string
	json   bool
}

func newBitmapInfo(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "info X.hdb [--column NAME] [--json]",
		Short: "Print the columns, bins and sizes of a table",
		Long: `Info prints what a table holds: for each column its type, bins, how they were found,
what its bit vectors and its stored values take, and the sections of the file. It checks
the file's checksums first. --column prints the bins of one column.`,
		Example: "  heddle bitmap info flights.hdb\n  heddle bitmap info flights.hdb --column delay\n  heddle bitmap info flights.hdb --json",
	}, &bitmapInfoOptions{})
}

func (o *bitmapInfoOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.column, "column", "", "print the bins of column `NAME`")
	addJSON(fs, &o.json)
}

func (o *bitmapInfoOptions) Validate(args []string) (err error) {
	o.path, err = oneArgument(args, "one table file")
	return err
}

// bitmapInfo is the answer; its JSON names are part of the contract.
type bitmapInfo struct {
	Path     string       `json:"path"`
	Bytes    int64        `json:"bytes"`
	Checksum string       `json:"checksum"`
	Creator  string       `json:"creator"`
	Source   string       `json:"source"`
	Rows     uint32       `json:"rows"`
	Word     int          `json:"word"` // bits of a word of the vectors
	Columns  []columnInfo `json:"columns"`
	Sections []section    `json:"sections"`
}

type columnInfo struct {
	Name            string    `json:"name"`
	Type            string    `json:"type"`
	Binning         string    `json:"binning"`
	Encoding        string    `json:"encoding"`
	Missing         uint32    `json:"missing"`         // rows without a value
	Least           *string   `json:"least,omitempty"` // nil: no row has a value
	Greatest        *string   `json:"greatest,omitempty"`
	Bins            int       `json:"bins"`
	Vectors         int       `json:"vectors"`
	VectorBytes     int64     `json:"vector_bytes"`
	ValueBytes      int64     `json:"value_bytes"`
	VectorBytesARow float64   `json:"vector_bytes_per_row"`
	ValueBytesARow  float64   `json:"value_bytes_per_row"`
	List            []binInfo `json:"list,omitempty"` // of --column
}

type binInfo struct {
	Least    string `json:"least"`
	Greatest string `json:"greatest"`
	Rows     uint32 `json:"rows"`
}

func (o *bitmapInfoOptions) Run(_ context.Context, a *App) error {
	f, err := hdb.Open(o.path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := describeTable(f, o.column)
	switch {
	case err != nil:
		return err
	case o.json:
		return writeJSON(a.Stdout, info)
	case o.column != "":
		return info.Columns[0].writeBins(a.Stdout)
	}
	return info.write(a.Stdout)
}

// describeTable describes f, or one column of it, whose bins are then listed.
func describeTable(f *hdb.File, only string) (*bitmapInfo, error) {
	info := &bitmapInfo{Path: f.Path(), Bytes: f.Size(), Checksum: fmt.Sprintf("%016x", f.Checksum()), Creator: f.Meta().Creator,
		Source: f.Meta().Source, Rows: f.Rows(), Word: f.Word(), Columns: []columnInfo{}, Sections: describeSections(f.Sections())}
	columns := f.Columns()
	var names []string
	for i := range columns {
		c := &columns[i]
		names = append(names, c.Name)
		if only != "" && c.Name != only {
			continue
		}
		d := columnInfo{Name: c.Name, Type: c.Type.String(), Binning: c.Binning.String(), Encoding: c.Encoding.String(), Missing: c.Missing,
			Bins: len(c.Bins), Vectors: c.Vectors()}
		d.VectorBytes, d.ValueBytes = f.ColumnSize(i)
		if f.Rows() > 0 {
			d.VectorBytesARow, d.ValueBytesARow = float64(d.VectorBytes)/float64(f.Rows()), float64(d.ValueBytes)/float64(f.Rows())
		}
		if n := len(c.Bins); n > 0 {
			least, greatest := c.Format(c.Bins[0].Lo), c.Format(c.Bins[n-1].Hi)
			d.Least, d.Greatest = &least, &greatest
		}
		if only != "" {
			for _, b := range c.Bins {
				d.List = append(d.List, binInfo{c.Format(b.Lo), c.Format(b.Hi), b.Rows})
			}
		}
		info.Columns = append(info.Columns, d)
	}
	if only != "" && len(info.Columns) == 0 {
		return nil, fmt.Errorf("%s: %w", f.Path(), &read.ColumnError{Name: only, Names: names})
	}
	return info, nil
}

func (i *bitmapInfo) write(out io.Writer) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "table\t%s\nbytes\t%d\nchecksum\t%s\n", i.Path, i.Bytes, i.Checksum)
	fmt.Fprintf(w, "creator\t%s\nsource\t%s\nrows\t%d\nwords\t%d bits\n", i.Creator, i.Source, i.Rows, i.Word)
	w.Flush()
	b.WriteByte('\n')

	w = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "column\ttype\tleast\tgreatest\tmissing\tbinning\tencoding\tbins\tvectors\tbytes a row: vectors\tvalues\n")
	for _, c := range i.Columns {
		least, greatest := "", ""
		if c.Least != nil {
			least, greatest = c.show(*c.Least), c.show(*c.Greatest)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%d\t%d\t%.3f\t%.3f\n", field(c.Name), c.Type, least, greatest, c.Missing, c.Binning, c.Encoding,
			c.Bins, c.Vectors, c.VectorBytesARow, c.ValueBytesARow)
	}
	w.Flush()
	b.WriteByte('\n')

	writeSections(&b, i.Sections)
	_, err := io.WriteString(out, b.String())
	return err
}

// show writes a value for people: a text in quotes, so that an empty one shows and one
// with a line end keeps its place.
func (c *columnInfo) show(value string) string {
	if c.Type == column.String.String() {
		return strconv.Quote(value)
	}
	return value
}

func (c *columnInfo) writeBins(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %d bins, binning %s, encoding %s, %d rows without a value\n\n", field(c.Name), c.Type, c.Bins, c.Binning, c.Encoding, c.Missing)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "bin\tleast\tgreatest\trows\n")
	for i, x := range c.List {
		fmt.Fprintf(w, "%d\t%s\t%s\t%d\n", i, c.show(x.Least), c.show(x.Greatest), x.Rows)
	}
	w.Flush()
	_, err := io.WriteString(out, b.String())
	return err
}

type bitmapVerifyOptions struct{ path string }

func newBitmapVerify(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "verify X.hdb",
		Short: "Check every byte, vector and value of a table",
		Long: `Verify checks all checksums and bit vectors, and of every row that its value lies in
the bin whose vector has it. It exits with 3 and names the byte where a damaged file is
wrong.`,
		Example: "  heddle bitmap verify flights.hdb",
	}, &bitmapVerifyOptions{})
}

func (o *bitmapVerifyOptions) AddFlags(*pflag.FlagSet) {}

func (o *bitmapVerifyOptions) Validate(args []string) (err error) {
	o.path, err = oneArgument(args, "one table file")
	return err
}

func (o *bitmapVerifyOptions) Run(ctx context.Context, a *App) error {
	f, err := hdb.Open(o.path)
	if err != nil {
		return err
	}
	if err := f.Verify(ctx); err != nil {
		return errors.Join(err, f.Close())
	}
	_, err = fmt.Fprintf(a.Stdout, "%s is fine: %d rows, %d columns, %d vectors, checksum %016x\n",
		o.path, f.Rows(), len(f.Columns()), len(f.Table().Vectors), f.Checksum())
	return errors.Join(err, f.Close())
}
