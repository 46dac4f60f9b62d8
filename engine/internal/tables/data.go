package tables

import (
	"context"
	"errors"
	"fmt"
	"os"

	"heddle/engine/internal/cost"
	"heddle/engine/internal/folder"
	"heddle/engine/plan"
	"heddle/engine/table/column"
	"heddle/engine/table/hdb"
)

// Data is a bitmap table and the description of its columns. It does not change and is
// safe for concurrent use.
type Data struct {
	Table   *plan.Table
	Columns []column.Column
	File    *hdb.File // nil for a table in memory
	Path    string    // of the file, or of the folder whose files the table joins

	vectorRows []uint64      // number of rows of each vector
	sliceBytes []uint64      // size of the bit slices of each column, in bytes
	lists      map[int]*list // values of multi-valued columns, by number
}

// New describes a table in memory. The error names the first column that the table
// lacks. t and columns must stay valid and unchanged until the last use of the Data.
func New(t *plan.Table, columns []column.Column) (*Data, error) {
	if len(columns) != len(t.Columns) {
		return nil, fmt.Errorf("engine: %d columns are described, the table has the values of %d", len(columns), len(t.Columns))
	}
	for i := range columns {
		c := &columns[i]
		if end := uint64(c.Vector) + uint64(c.Vectors()); end > uint64(len(t.Vectors)) {
			return nil, fmt.Errorf("engine: column %q has vectors up to %d, the table has %d", c.Name, end, len(t.Vectors))
		}
	}
	if err := t.Validate(); err != nil {
		return nil, err
	}
	for i := range columns {
		if has, want := t.Columns[i].Valid(), uint64(t.Rows-min(columns[i].Missing, t.Rows)); has != want {
			return nil, fmt.Errorf("engine: the codes of column %q are of %d rows with a value, its description says %d", columns[i].Name, has, want)
		}
	}
	d := &Data{Table: t, Columns: columns, vectorRows: make([]uint64, len(t.Vectors)), sliceBytes: make([]uint64, len(columns))}
	for i := range columns {
		d.sliceBytes[i] = t.Columns[i].Bytes()
		for k, n := range columns[i].VectorRows() {
			d.vectorRows[columns[i].Vector+uint32(k)] = uint64(n)
		}
	}
	return d, nil
}

// Open opens the table at path, a file or a folder of files, below root unless it is nil. trusted skips the checksums.
// Errors: of folder.Open. The caller calls Close.
func Open(ctx context.Context, root *os.Root, path string, trusted bool) (*Data, error) {
	f, err := folder.Open(ctx, root, path, trusted)
	if err != nil {
		return nil, err
	}
	d, err := New(f.Table(), f.Columns())
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	d.File, d.Path = f, path
	if err := d.openLists(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return d, nil
}

// Close closes the file, if there is one.
func (d *Data) Close() error {
	if d.File == nil {
		return nil
	}
	return d.File.Close()
}

// Work counts the work of a batch, which must be valid for the table
// (plan.SelectBatch.Validate).
func (d *Data) Work(s *plan.SelectBatch) cost.Selection {
	w := cost.Selection{Selections: uint64(s.Len()), Vectors: uint64(len(s.Operands)), Bytes: d.Table.VectorBytes(s.Operands)}
	for i := range s.Len() {
		rows, places := d.checked(s, i)
		w.Checks += rows
		w.Places += places
	}
	if s.Output == plan.OutputBits {
		w.Rows = w.Selections * uint64(d.Table.Rows)
	}
	return w
}

// checked bounds the rows that selection i checks, and the words of vectors that hold
// them: the rows of a fill are one run of neighbours.
func (d *Data) checked(s *plan.SelectBatch, i int) (rows, places uint64) {
	type set struct{ rows, words uint64 }
	stack := make([]set, 0, plan.MaxSets)
	all := uint64(d.Table.Rows)
	for _, x := range s.Selection(i) {
		n := len(stack) - 1
		switch x.Code {
		case plan.StepAny:
			var sum set
			for _, v := range s.Operands[x.From:x.To] {
				sum.rows += d.vectorRows[v]
				sum.words += uint64(d.Table.Vectors[v].Words)
			}
			stack = append(stack, set{min(sum.rows, all), sum.words})
		case plan.StepAll:
			stack = append(stack, set{all, 1})
		case plan.StepNot:
			stack[n].rows = all - stack[n].rows
		case plan.StepCheck:
			rows += stack[n].rows
			places += min(stack[n].rows, stack[n].words)
		case plan.StepCompare: // of two columns
			rows += 2 * stack[n].rows
			places += 2 * min(stack[n].rows, stack[n].words)
		default:
			a, b := stack[n-1], stack[n]
			switch x.Code {
			case plan.StepAnd:
				a.rows = min(a.rows, b.rows)
			case plan.StepOr:
				a.rows = min(a.rows+b.rows, all)
			}
			stack = stack[:n]
			stack[n-1] = set{a.rows, a.words + b.words}
		}
	}
	return rows, places
}
