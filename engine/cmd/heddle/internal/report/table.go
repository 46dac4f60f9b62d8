package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
	"heddle/engine/table/read"
)

// Table describes a table file.
type Table struct {
	Path     string    `json:"path"`
	Bytes    int64     `json:"bytes"`
	Checksum string    `json:"checksum"`
	Creator  string    `json:"creator"`
	Source   string    `json:"source"`
	Rows     uint32    `json:"rows"`
	Word     int       `json:"word"` // bits per word of the bit vectors
	Columns  []Column  `json:"columns"`
	Sections []Section `json:"sections"`
}

// Column describes one column of a table.
type Column struct {
	Name              string  `json:"name"`
	Type              string  `json:"type"`
	Binning           string  `json:"binning"`
	Encoding          string  `json:"encoding"`
	Reason            string  `json:"reason,omitempty"` // of the encoding
	Missing           uint32  `json:"missing"`          // rows without a value
	Values            *uint32 `json:"values,omitempty"` // number of values of a multi-valued column in all rows; nil for other columns
	Least             *string `json:"least,omitempty"`  // nil: no row has a value
	Greatest          *string `json:"greatest,omitempty"`
	Bins              int     `json:"bins"`
	Vectors           int     `json:"vectors"`
	VectorBytes       int64   `json:"vector_bytes"`
	ValueBytes        int64   `json:"value_bytes"`
	VectorBytesPerRow float64 `json:"vector_bytes_per_row"`
	ValueBytesPerRow  float64 `json:"value_bytes_per_row"`
	List              []Bin   `json:"list,omitempty"` // only if one column is described
}

// Bin is one bin of a column.
type Bin struct {
	Least    string `json:"least"`
	Greatest string `json:"greatest"`
	Rows     uint32 `json:"rows"`
}

// NewTable describes f. If only is not empty, it describes this column alone and lists
// its bins; an unknown name is a *read.ColumnError.
func NewTable(f *hdb.File, only string) (*Table, error) {
	t := &Table{Path: f.Path(), Bytes: f.Size(), Checksum: fmt.Sprintf("%016x", f.Checksum()), Creator: f.Meta().Creator,
		Source: f.Meta().Source, Rows: f.Rows(), Word: f.Word(), Columns: []Column{}, Sections: sections(f.Sections())}
	columns := f.Columns()
	var names []string
	for i := range columns {
		c := &columns[i]
		names = append(names, c.Name)
		if only != "" && c.Name != only {
			continue
		}
		stored := c.Stored()
		d := Column{Name: c.Name, Type: c.TypeName(), Binning: stored.Binning.String(), Encoding: stored.Encoding.String(), Reason: stored.Reason, Missing: c.Missing,
			Bins: len(stored.Bins), Vectors: c.Vectors()}
		if l := f.List(i); l != nil {
			d.Values, d.Vectors = &l.Table.Rows, d.Vectors+len(l.Table.Vectors)
		}
		d.VectorBytes, d.ValueBytes = f.ColumnSize(i)
		if f.Rows() > 0 {
			d.VectorBytesPerRow, d.ValueBytesPerRow = float64(d.VectorBytes)/float64(f.Rows()), float64(d.ValueBytes)/float64(f.Rows())
		}
		if n := len(stored.Bins); n > 0 {
			least, greatest := stored.Format(stored.Bins[0].Lo), stored.Format(stored.Bins[n-1].Hi)
			d.Least, d.Greatest = &least, &greatest
		}
		if only != "" {
			for _, b := range stored.Bins {
				d.List = append(d.List, Bin{stored.Format(b.Lo), stored.Format(b.Hi), b.Rows})
			}
		}
		t.Columns = append(t.Columns, d)
	}
	if only != "" && len(t.Columns) == 0 {
		return nil, fmt.Errorf("%s: %w", f.Path(), &read.ColumnError{Name: only, Names: names})
	}
	return t, nil
}

// Write writes the description as text.
func (t *Table) Write(out io.Writer) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "table\t%s\nbytes\t%d\nchecksum\t%s\n", t.Path, t.Bytes, t.Checksum)
	fmt.Fprintf(w, "creator\t%s\nsource\t%s\nrows\t%d\nwords\t%d bits\n", t.Creator, t.Source, t.Rows, t.Word)
	w.Flush()
	b.WriteByte('\n')

	w = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "column\ttype\tleast\tgreatest\tmissing\tbinning\tencoding\tbins\tvectors\tbytes/row: vectors\tvalues\treason of the encoding\n")
	for _, c := range t.Columns {
		least, greatest := "", ""
		if c.Least != nil {
			least, greatest = c.show(*c.Least), c.show(*c.Greatest)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%d\t%d\t%.3f\t%.3f\t%s\n", terminal.Field(c.Name), c.Type, least, greatest, c.Missing, c.Binning, c.Encoding,
			c.Bins, c.Vectors, c.VectorBytesPerRow, c.ValueBytesPerRow, terminal.Field(c.Reason))
	}
	w.Flush()
	b.WriteByte('\n')

	writeSections(&b, t.Sections)
	_, err := io.WriteString(out, b.String())
	return err
}

// show quotes strings, so that empty strings and line ends are visible.
func (c *Column) show(value string) string {
	if strings.TrimSuffix(c.Type, "[]") == column.String.String() {
		return strconv.Quote(value)
	}
	return value
}

// WriteBins writes the bins of the column as a table.
func (c *Column) WriteBins(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %d bins, binning %s, encoding %s, %d rows without a value\n\n", terminal.Field(c.Name), c.Type, c.Bins, c.Binning, c.Encoding, c.Missing)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "bin\tleast\tgreatest\trows\n")
	for i, x := range c.List {
		fmt.Fprintf(w, "%d\t%s\t%s\t%d\n", i, c.show(x.Least), c.show(x.Greatest), x.Rows)
	}
	w.Flush()
	_, err := io.WriteString(out, b.String())
	return err
}
