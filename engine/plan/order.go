package plan

import (
	"context"
	"fmt"
	"math"
)

// MaxFirst is the greatest Order.K.
const MaxFirst = MaxK

// Order is an order of rows: by the codes of columns, then by row.
type Order struct {
	Keys []OrderKey
	K    int // number of rows, 1 to MaxFirst
	// Tied asks for all rows whose codes are the ones of row K too, so that further keys can order them.
	Tied bool
}

// OrderKey is a column of an Order.
type OrderKey struct {
	Column       uint32
	Last         uint64 // greatest code of the rows with a value
	Descending   bool
	MissingFirst bool // rows without a value come first. Default: last
}

// First are rows of a selection, the first ones of an order among them.
type First struct {
	Rows  []uint32 // in any order: a few times K
	Count uint64   // all rows of the selection
	Stats Stats
}

// Sorter is a TableStore that finds the first rows of an order.
type Sorter interface {
	// First finds the first rows among the rows of the only selection of s, without the rows that with lacks, unless it is
	// nil: a filter as of Filter. The rows stay in the memory of the backend until a few are left. It returns the errors
	// of Select, and ErrUnsupported for an order or a filter that the store does not take, and for too many
	// rows with equal codes.
	First(ctx context.Context, s *SelectBatch, with Filter, o *Order) (*First, error)
}

// Validate checks the order against t.
func (o *Order) Validate(t *Table) error {
	if o.K < 1 || o.K > MaxFirst {
		return fmt.Errorf("plan: the first %d rows were asked for, possible are 1 to %d", o.K, MaxFirst)
	}
	for _, k := range o.Keys {
		if uint64(k.Column) >= uint64(len(t.Columns)) {
			return fmt.Errorf("plan: an order by column %d of %d", k.Column, len(t.Columns))
		}
		if k.Last > math.MaxUint64-3 { // a key of kernels/top.cl has 64 bits
			return fmt.Errorf("plan: an order by column %d with codes up to %d: %w", k.Column, k.Last, ErrUnsupported)
		}
	}
	return nil
}
