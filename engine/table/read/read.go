// Package read defines sources of rows: a table that is read column by column and a batch of rows
// at a time. Its folders read CSV, Parquet and raw columns. Several files of the same columns make one
// table, in the order they are given.
//
// Errors about the content of an input are input.ErrCorrupt, and say the file, the
// line or the byte, the column and the value. That options name a column which is not
// there is a *ColumnError.
package read

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"heddle/config"
	"heddle/engine/file/input"
	"heddle/engine/table/column"
)

// Field is a column of a Source.
type Field struct {
	Name  string
	Type  column.Type
	Scale uint8 // digits behind the point of decimals
	// Digits of decimals, in all, that a CSV file may have; 0 is as many as the type has
	// room for.
	Digits uint8
	List   bool // multi-valued: a row has any number of values
}

// Element is the field of a single value of a multi-valued column.
func (f Field) Element() Field {
	f.List = false
	return f
}

// String writes the field with its type.
func (f Field) String() string {
	list := ""
	if f.List {
		list = "[]"
	}
	if f.Type.IsDecimal() {
		return fmt.Sprintf("%s %s%s of scale %d", f.Name, f.Type, list, f.Scale)
	}
	return fmt.Sprintf("%s %s%s", f.Name, f.Type, list)
}

// Source is a table that is read once, from the first row to the last. It belongs to
// one goroutine, but for Progress, which any may call.
type Source interface {
	// Fields are the columns, known from the start.
	Fields() []Field
	// Next replaces the content of b, whose memory it reuses, by the next rows, at least
	// one; io.EOF follows the last row. It returns ctx.Err() when ctx ends. After an error
	// every further call returns an error.
	Next(ctx context.Context, b *Batch) error
	// Progress is the number of bytes of the inputs that have been read, and that they
	// have: as they are stored, 0 if that is unknown.
	Progress() (done, total int64)
	// Invalid counts the rows so far that had texts which are not UTF-8.
	Invalid() InvalidRows
	// Close ends the reading and closes the inputs.
	Close() error
}

// Batch is a number of rows.
type Batch struct {
	Rows    int
	Columns []Values // values of the columns, in the order of Fields
}

// Values are the values of consecutive rows of a column: Keys, but Text and Ends of a
// type with a dictionary.
type Values struct {
	Keys []uint64 // key of each value, as package column defines it; arbitrary for a row without a value
	Text []byte   // value i is Text[Ends[i-1]:Ends[i]], the first starts at 0
	Ends []uint32
	// Missing is true for each row without a value. It is empty if every row has one.
	Missing []bool

	// Of a multi-valued column, the values of all rows one after another, none of them missing, and
	// the number of values of each row. The fields above are empty then.
	Elements *Values
	Counts   []uint32

	invalid []int // rows whose texts are not UTF-8; may repeat
	unfit   []int // rows whose values do not fit the column, and have another value now
	nulls   int   // missing values in arrays
}

// Each calls f with the values of a column of texts; ok is false for a missing one.
func (v *Values) Each(f func(row int, value []byte, ok bool)) {
	at := uint32(0)
	for i, end := range v.Ends {
		f(i, v.Text[at:end:end], len(v.Missing) == 0 || !v.Missing[i])
		at = end
	}
}

// Reset empties the batch, which gets the given number of columns.
func (b *Batch) Reset(columns int) {
	b.Rows = 0
	if len(b.Columns) != columns {
		b.Columns = make([]Values, columns)
	}
	for i := range b.Columns {
		b.Columns[i].reset()
	}
}

// reset empties v and keeps its memory.
func (v *Values) reset() {
	*v = Values{Keys: v.Keys[:0], Text: v.Text[:0], Ends: v.Ends[:0], Missing: v.Missing[:0],
		Elements: v.Elements, Counts: v.Counts[:0], invalid: v.invalid[:0], unfit: v.unfit[:0]}
	if v.Elements != nil {
		v.Elements.reset()
	}
}

// AppendKey appends the key of a row.
func (v *Values) AppendKey(k uint64) {
	v.Keys = append(v.Keys, k)
	if len(v.Missing) > 0 {
		v.Missing = append(v.Missing, false)
	}
}

// AppendText appends the value of a row of a column of texts.
func (v *Values) AppendText(s []byte) {
	v.Text = append(v.Text, s...)
	v.Ends = append(v.Ends, uint32(len(v.Text)))
	if len(v.Missing) > 0 {
		v.Missing = append(v.Missing, false)
	}
}

// AppendMissing appends a row without a value.
func (v *Values) AppendMissing(t column.Type) {
	row := len(v.Keys)
	if t.HasDictionary() {
		row = len(v.Ends)
		v.Ends = append(v.Ends, uint32(len(v.Text)))
	} else {
		v.Keys = append(v.Keys, 0)
	}
	for len(v.Missing) < row {
		v.Missing = append(v.Missing, false)
	}
	v.Missing = append(v.Missing, true)
}

// Choose finds the columns that are wanted, all if none are named. That there is none of
// a name is a *ColumnError.
func Choose(names, wanted []string) (chosen []int, err error) {
	at := make(map[string]int, len(names))
	for i, n := range names {
		if _, twice := at[n]; twice {
			return nil, fmt.Errorf("two columns are called %q", n)
		}
		if at[n] = i; len(wanted) == 0 {
			chosen = append(chosen, i)
		}
	}
	taken := make(map[string]bool, len(wanted))
	for _, n := range wanted {
		i, ok := at[n]
		switch {
		case !ok:
			return nil, &ColumnError{n, names}
		case taken[n]:
			return nil, fmt.Errorf("column %q is named twice", n)
		}
		taken[n] = true
		chosen = append(chosen, i)
	}
	return chosen, nil
}

// ColumnError names a requested column that the table does not have.
type ColumnError struct {
	Name  string
	Names []string // names of the columns of the input
}

func (e *ColumnError) Error() string {
	if len(e.Names) == 0 {
		return fmt.Sprintf("there is no column %q: the table has none", e.Name)
	}
	return fmt.Sprintf("there is no column %q; there are %s%s", e.Name, List(e.Names), config.Hint("%q", e.Name, e.Names))
}

// List writes the names of columns, the first of them if there are many.
func List(names []string) string {
	const most = 20
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// Sizes adds up the sizes of files; it is 0 if the size of one is unknown.
func Sizes(paths []string) (total int64) {
	for _, p := range paths {
		n := input.Size(p)
		if n == 0 {
			return 0
		}
		total += n
	}
	return total
}

// Parallel calls f(0) to f(n-1), on all cores, and returns when all have returned.
func Parallel(n int, f func(i int)) {
	var running sync.WaitGroup
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1) - 1); i < n; i = int(next.Add(1) - 1) {
			f(i)
		}
	}
	for range min(n, runtime.GOMAXPROCS(0)) - 1 {
		running.Go(work)
	}
	work()
	running.Wait()
}

// HasInvalid reports whether a text of the batch is not UTF-8.
func (v *Values) HasInvalid() bool { return len(v.invalid) > 0 }
