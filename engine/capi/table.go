//go:build cgo

package main

// #include "const.h"
import "C"

import (
	"bytes"
	"context"
	"io"
	"math"

	"heddle/engine"
	"heddle/engine/plan"
	"heddle/engine/table/rowset"
	"heddle/engine/table/values"
	"heddle/engine/table/values/arrow"
	"heddle/engine/table/values/parquet"
)

// heddle_table_count counts the rows of a table that satisfy each of `count` predicates, at most 2^24, in batches.
//
//export heddle_table_count
func heddle_table_count(table C.heddle_handle, where *C.const_text, count C.uint64_t, counts *C.uint64_t, control *C.const_control, fault *C.heddle_error) C.int32_t {
	return use(table, control, fault, func(ctx context.Context, t *engine.Table) error {
		if count > 0 && (where == nil || counts == nil) {
			return invalid("where and counts must not be NULL")
		}
		if count > mostBatch {
			return invalid("%d predicates, at most %d are possible", uint64(count), mostBatch)
		}
		all := make([]engine.Selection, count)
		for i, w := range array[*C.const_char](where, uint64(count)) {
			if w == nil {
				return invalid("where[%d] is NULL", i)
			}
			all[i] = engine.Selection{Where: text(w), Output: plan.OutputCounts}
		}
		to := array[uint64](counts, uint64(count))
		return t.SelectAll(ctx, all, func(first int, rows []engine.Rows) error {
			for i := range rows {
				to[first+i] = rows[i].Count
			}
			return nil
		})
	})
}

// heddle_table_rows writes the numbers of the rows that satisfy a predicate, ascending, and their number to `count`.
// With too little room (`rows` may be NULL if room is 0) it writes `count` and returns HEDDLE_SHORT_BUFFER.
//
//export heddle_table_rows
func heddle_table_rows(table C.heddle_handle, where *C.const_char, rows *C.uint32_t, room C.uint64_t, count *C.uint64_t, control *C.const_control, fault *C.heddle_error) C.int32_t {
	return use(table, control, fault, func(ctx context.Context, t *engine.Table) error {
		if where == nil || count == nil || rows == nil && room > 0 || room > math.MaxInt64/4 {
			return invalid("where, rows and count must not be NULL")
		}
		r, err := t.Select(ctx, engine.Selection{Where: text(where)})
		if err != nil {
			return err
		}
		defer r.Release()
		*count = C.uint64_t(r.Count)
		if r.Count > uint64(room) {
			return short("%d rows, there is room for %d", r.Count, uint64(room))
		}
		rowset.AppendIDs(array[uint32](rows, uint64(room))[:0], r.Bits)
		return nil
	})
}

// formats are the forms of values.
var formats = map[string]func(io.Writer) values.Writer{"": arrow.New, "arrow": arrow.New, "parquet": parquet.New, "json": values.NewLines, "csv": values.NewCSV}

// heddle_table_values returns aggregates of the rows of a table, or columns of the rows, as a file in memory.
//
//export heddle_table_values
func heddle_table_values(table C.heddle_handle, asked *C.const_aggregation, answer *C.heddle_bytes, control *C.const_control, fault *C.heddle_error) C.int32_t {
	return use(table, control, fault, func(ctx context.Context, t *engine.Table) error {
		if asked == nil || asked._select == nil || answer == nil {
			return invalid("asked, select and answer must not be NULL")
		}
		form := formats[text(asked.format)]
		if form == nil {
			return invalid("format %q is none of arrow, parquet, json and csv", text(asked.format))
		}
		var file bytes.Buffer
		w := form(&file)
		err := t.Aggregate(ctx, engine.Aggregation{
			Select: text(asked._select), GroupBy: text(asked.group_by), OrderBy: text(asked.order_by),
			Offset: uint64(asked.offset), Limit: uint64(asked.limit), Rows: engine.Selection{Where: text(asked.where)},
		}, w.Write)
		if err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		give(answer, file.Bytes())
		return nil
	})
}
