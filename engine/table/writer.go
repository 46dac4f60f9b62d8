// Package table writes tables row by row. Its folders read, build, query and store them.
package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"

	"heddle/engine/file/container"
	"heddle/engine/table/build"
	"heddle/engine/table/column"
	"heddle/engine/table/read"
	"heddle/engine/table/read/csv"
)

// Column is a column of a Writer.
type Column struct {
	Name string
	// Type is int, uint, float, float32, string, bool, timestamp, timestamp_ns, or decimal(P,S) with P digits, S of them
	// behind the point. Behind it [] stands for any number of values, as in string[].
	Type string
}

// Writer writes a table row by row. The table appears at Close, complete and on the disk; until then a file at its path
// stays as it is. It belongs to one goroutine.
type Writer struct {
	rows   *rows
	batch  *read.Batch
	size   int // bytes of batch, about
	row    uint64
	ended  bool
	cancel context.CancelCauseFunc

	done   chan struct{} // closed when the build has ended
	report build.Report
	err    error
}

const (
	batchRows  = 4096
	batchBytes = 1 << 20
)

// NewWriter begins a table at a path, whose folder takes temporary files. Options.Memory bounds the structures that grow
// with the rows, 1 GiB by default; two batches of at most 4096 rows or about 1 MiB come on top. The end of ctx ends
// the writer, and leaves no file. The caller calls Close or Abort.
func NewWriter(ctx context.Context, path string, columns []Column, opt build.Options) (*Writer, error) {
	if err := container.CheckTarget(path); err != nil {
		return nil, err
	}
	r := &rows{batches: make(chan *read.Batch), spare: make(chan *read.Batch, 2)}
	for _, c := range columns {
		d, err := column.ParseDeclared(c.Type)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", c.Name, err)
		}
		r.fields = append(r.fields, read.Field{Name: c.Name, Type: d.Type, Scale: d.Scale, Digits: d.Digits, List: d.List})
	}
	ctx, cancel := context.WithCancelCause(ctx)
	w := &Writer{rows: r, cancel: cancel, done: make(chan struct{})}
	w.batch = r.next(len(columns))
	go func() {
		defer close(w.done)
		w.report, w.err = build.Build(ctx, r, path, opt)
		if cause := context.Cause(ctx); w.err != nil && cause != nil {
			w.err = cause
		}
	}()
	return w, nil
}

// Write appends a row, with a value for each column: nil for no value; an integer, a float, a string or a bool;
// time.Time for timestamps, which must fit exactly (time.Time.Truncate); a string or an integer for decimals; a slice of them for several values. Texts
// are UTF-8. The error of a value is a *ValueError, and the row is left out; after another error the build has ended.
func (w *Writer) Write(values ...any) error {
	return w.end(len(values), func(to *read.Values, column int) error { return w.append(to, w.rows.fields[column], values[column]) })
}

// WriteTexts appends a row of texts, as CSV has them (package csv): for each column the texts of its values, none for no
// value. Errors: those of Write.
func (w *Writer) WriteTexts(values [][][]byte) error {
	return w.end(len(values), func(to *read.Values, column int) error { return w.texts(to, w.rows.fields[column], values[column]) })
}

// ValueError is the error of a value that its column cannot hold.
type ValueError struct {
	Row    uint64 // from 0
	Column string
	Err    error
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("row %d, column %q: %v", e.Row, e.Column, e.Err)
}
func (e *ValueError) Unwrap() error { return e.Err }

// end appends a row of some values, which put appends to their columns.
func (w *Writer) end(values int, put func(to *read.Values, column int) error) error {
	if w.ended {
		return errClosed
	}
	if values != len(w.rows.fields) {
		return fmt.Errorf("row %d has %d values, the table has %d columns", w.row, values, len(w.rows.fields))
	}
	for i := range w.batch.Columns {
		if err := put(&w.batch.Columns[i], i); err != nil {
			w.batch.Truncate()
			return &ValueError{w.row, w.rows.fields[i].Name, err}
		}
	}
	w.row++
	if w.batch.Rows++; w.batch.Rows < batchRows && w.size < batchBytes {
		return nil
	}
	return w.flush()
}

var errClosed = errors.New("the writer is closed")

// flush passes the rows on.
func (w *Writer) flush() error {
	select {
	case w.rows.batches <- w.batch:
		w.batch, w.size = w.rows.next(len(w.rows.fields)), 0
		return nil
	case <-w.done:
		return fmt.Errorf("row %d: %w", w.row, w.err)
	}
}

// texts appends the value of a column, or its values.
func (w *Writer) texts(to *read.Values, f read.Field, values [][]byte) error {
	if !f.List {
		if len(values) == 0 {
			to.AppendNone(f)
			return nil
		}
		if len(values) > 1 {
			return fmt.Errorf("%d values: type %v[] takes several", len(values), f.Type)
		}
		w.size += len(values[0])
		return csv.Append(to, f, values[0])
	}
	n := to.BeginList()
	for _, v := range values {
		w.size += len(v)
		if err := csv.Append(to.Elements, f.Element(), v); err != nil {
			return err
		}
	}
	to.EndList(n)
	return nil
}

// append appends the value of a column.
func (w *Writer) append(to *read.Values, f read.Field, v any) error {
	if v == nil {
		to.AppendNone(f)
		return nil
	}
	if !f.List {
		return w.single(to, f, v)
	}
	all := reflect.ValueOf(v)
	if all.Kind() != reflect.Slice {
		return fmt.Errorf("%v (%T) is no slice", v, v)
	}
	n := to.BeginList()
	for i := range all.Len() {
		if err := w.single(to.Elements, f.Element(), all.Index(i).Interface()); err != nil {
			return fmt.Errorf("value %d: %w", i, err)
		}
	}
	to.EndList(n)
	return nil
}

func (w *Writer) single(to *read.Values, f read.Field, v any) error {
	x := reflect.ValueOf(v)
	if f.Type != column.String {
		w.size += 8
	}
	switch {
	case f.Type.IsDecimal():
		if !x.CanInt() && !x.CanUint() && x.Kind() != reflect.String {
			return wrong(v, f)
		}
		n, ok := column.ParseDecimal(fmt.Sprint(v), f.Digits, f.Scale)
		if !ok {
			return wrong(v, f)
		}
		if f.Type == column.Decimal {
			to.AppendKey(column.IntKey(n.Int64()))
			return nil
		}
		key, err := column.WideKey(n)
		to.AppendText(key[:])
		return err
	case f.Type == column.String && x.Kind() == reflect.String:
		if !utf8.ValidString(x.String()) {
			return fmt.Errorf("%s is no UTF-8", strconv.Quote(x.String()))
		}
		w.size += x.Len()
		to.AppendText([]byte(x.String()))
	case f.Type == column.Bool && x.Kind() == reflect.Bool:
		key := uint64(0)
		if x.Bool() {
			key = 1
		}
		to.AppendKey(key)
	case f.Type == column.Int && x.CanInt():
		to.AppendKey(column.IntKey(x.Int()))
	case f.Type == column.Int && x.CanUint() && x.Uint() <= math.MaxInt64:
		to.AppendKey(column.IntKey(int64(x.Uint())))
	case f.Type == column.Uint && x.CanUint():
		to.AppendKey(x.Uint())
	case f.Type == column.Uint && x.CanInt() && x.Int() >= 0:
		to.AppendKey(uint64(x.Int()))
	case f.Type == column.Float && (x.CanFloat() || x.CanInt() || x.CanUint()):
		to.AppendKey(column.FloatKey(float(x)))
	case f.Type == column.Float32 && (x.CanFloat() || x.CanInt() || x.CanUint()):
		to.AppendKey(column.Float32Key(float32(float(x))))
	case f.Type.IsTime():
		text, ok := v.(string)
		if t, is := v.(time.Time); is {
			if f.Type == column.Timestamp && t.Nanosecond()%1000 != 0 {
				return fmt.Errorf("%w: it has parts of a microsecond, which timestamp_ns takes", wrong(v, f))
			}
			text, ok = t.UTC().Format(time.RFC3339Nano), true
		}
		if !ok {
			return wrong(v, f)
		}
		key, ok := column.ParseTimestamp(f.Type, text)
		if !ok {
			return wrong(v, f)
		}
		to.AppendKey(key)
	default:
		return wrong(v, f)
	}
	return nil
}

func wrong(v any, f read.Field) error { return fmt.Errorf("%v (%T) is no %s", v, v, f.Type) }

func float(x reflect.Value) float64 {
	switch {
	case x.CanInt():
		return float64(x.Int())
	case x.CanUint():
		return float64(x.Uint())
	}
	return x.Float()
}

// Close writes the table and returns its report.
func (w *Writer) Close() (build.Report, error) {
	if w.ended {
		return w.report, errClosed
	}
	var err error
	if w.batch.Rows > 0 {
		err = w.flush()
	}
	w.ended = true
	close(w.rows.batches)
	<-w.done
	w.cancel(nil)
	if err == nil {
		err = w.err
	}
	return w.report, err
}

// Abort ends the writer without a table. After Close it has no effect.
func (w *Writer) Abort() {
	if !w.ended {
		w.ended = true
		w.cancel(errClosed)
		<-w.done
	}
}

// rows is the source of a build. It implements read.Source.
type rows struct {
	fields  []read.Field
	batches chan *read.Batch
	spare   chan *read.Batch // batches that were read
}

// next returns an empty batch.
func (r *rows) next(columns int) (b *read.Batch) {
	select {
	case b = <-r.spare:
	default:
		b = &read.Batch{}
	}
	b.Reset(columns)
	return b
}

func (r *rows) Fields() []read.Field             { return r.fields }
func (r *rows) Progress() (done, total int64)    { return 0, 0 }
func (r *rows) Invalid() (none read.InvalidRows) { return none }
func (r *rows) Close() error                     { return nil }

func (r *rows) Next(ctx context.Context, to *read.Batch) error {
	select {
	case b, ok := <-r.batches:
		if !ok {
			return io.EOF
		}
		*to, *b = *b, *to
		select {
		case r.spare <- b:
		default:
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
