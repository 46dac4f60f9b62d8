package tables

import (
	"context"
	"slices"
	"sync"

	"heddle/engine/file/mapped"
	"heddle/engine/table/gather"
	"heddle/engine/table/multivalue"
	"heddle/engine/table/predicate"
)

// list is the values of a multi-valued column, as a table of its own.
type list struct {
	*Data
	join func() (*multivalue.Join, error) // made at the first call
}

// openLists opens the values of the multi-valued columns of the file.
func (d *Data) openLists() error {
	for i := range d.Columns {
		l := d.File.List(i)
		if l == nil {
			continue
		}
		values, err := New(&l.Table, l.Columns)
		if err != nil {
			return err
		}
		values.File = d.File // d closes the file
		if d.lists == nil {
			d.lists = map[int]*list{}
		}
		d.lists[i] = &list{values, sync.OnceValues(func() (j *multivalue.Join, err error) {
			defer mapped.Catch(mapped.Watch(), &err)
			return multivalue.Open(d.Table, &d.Columns[i], &l.Table)
		})}
	}
	return nil
}

// list gives the values of a multi-valued column. Damage of the file is an error.
func (d *Data) list(column uint32) (*gather.List, error) {
	l := d.lists[int(column)]
	join, err := l.join()
	return &gather.List{Join: join, Table: l.Table}, err
}

// valued removes the rows that have not, or with s.Not that have, a selected value of a multi-valued
// column.
func (t *Task) valued(ctx context.Context, p *Predicate, s *predicate.Set, rows []uint64) error {
	if !slices.ContainsFunc(rows, func(w uint64) bool { return w != 0 }) {
		return nil
	}
	l, err := t.kind.g.list(uint32(s.Column))
	if err != nil {
		return err
	}
	return t.selectPart(ctx, t.kind.g.lists[s.Column], p.parts[s.Selection], func(values []uint64) {
		found := make([]uint64, len(rows))
		l.Join.RowsOf(values, found)
		for i, w := range found {
			if s.Not {
				rows[i] &^= w
			} else {
				rows[i] &= w
			}
		}
	})
}
