//go:build cgo

package main

// #include "const.h"
import "C"

import (
	"bytes"
	"context"
	"math"

	"heddle/engine"
)

// changed runs a change of a collection and describes it.
func changed(h C.heddle_handle, to *C.heddle_change, c *C.const_control, e *C.heddle_error, work func(context.Context, *engine.Collection) (engine.Change, error)) C.int32_t {
	return use(h, c, e, func(ctx context.Context, collection *engine.Collection) error {
		made, err := work(ctx, collection)
		if err == nil && to != nil {
			*to = C.heddle_change{
				info: ofCollection(made.CollectionInfo), added: C.uint64_t(made.Added), replaced: C.uint64_t(made.Replaced),
				deleted: C.uint64_t(made.Deleted), missing: C.uint64_t(made.Missing),
			}
		}
		return err
	})
}

// heddle_collection_add adds documents in JSON lines, or replaces documents of the same names: all or none. The
// change outlives a crash when the function returns. `change` may be NULL.
//
//export heddle_collection_add
func heddle_collection_add(collection C.heddle_handle, lines *C.const_char, size C.uint64_t, change *C.heddle_change, control *C.const_control, fault *C.heddle_error) C.int32_t {
	return changed(collection, change, control, fault, func(ctx context.Context, c *engine.Collection) (engine.Change, error) {
		if lines == nil && size > 0 || size > math.MaxInt64 {
			return engine.Change{}, invalid("lines is NULL")
		}
		return c.AddLines(ctx, bytes.NewReader(array[byte](lines, uint64(size))))
	})
}

// heddle_collection_update changes members of documents, whose sources the collection stores, by JSON lines. `change`
// may be NULL.
//
//export heddle_collection_update
func heddle_collection_update(collection C.heddle_handle, lines *C.const_char, size C.uint64_t, change *C.heddle_change, control *C.const_control, fault *C.heddle_error) C.int32_t {
	return changed(collection, change, control, fault, func(ctx context.Context, c *engine.Collection) (engine.Change, error) {
		if lines == nil && size > 0 || size > math.MaxInt64 {
			return engine.Change{}, invalid("lines is NULL")
		}
		return c.UpdateLines(ctx, bytes.NewReader(array[byte](lines, uint64(size))))
	})
}

// heddle_collection_delete deletes documents by their names. `change` may be NULL.
//
//export heddle_collection_delete
func heddle_collection_delete(collection C.heddle_handle, names *C.const_text, count C.uint64_t, change *C.heddle_change, control *C.const_control, fault *C.heddle_error) C.int32_t {
	return changed(collection, change, control, fault, func(ctx context.Context, c *engine.Collection) (engine.Change, error) {
		if names == nil && count > 0 || count > math.MaxInt32 {
			return engine.Change{}, invalid("names is NULL")
		}
		all := make([]string, 0, count)
		for i, n := range array[*C.const_char](names, uint64(count)) {
			if n == nil {
				return engine.Change{}, invalid("names[%d] is NULL", i)
			}
			all = append(all, text(n))
		}
		return c.Delete(ctx, all...)
	})
}

// heddle_collection_merge joins all segments to one without deleted documents, and `info` describes the result. `info`
// may be NULL.
//
//export heddle_collection_merge
func heddle_collection_merge(collection C.heddle_handle, info *C.heddle_info, control *C.const_control, fault *C.heddle_error) C.int32_t {
	return merged(collection, info, control, fault, (*engine.Collection).Merge)
}

// heddle_collection_refresh takes up the changes of another process. `info` may be NULL.
//
//export heddle_collection_refresh
func heddle_collection_refresh(collection C.heddle_handle, info *C.heddle_info, control *C.const_control, fault *C.heddle_error) C.int32_t {
	return merged(collection, info, control, fault, (*engine.Collection).Refresh)
}

func merged(h C.heddle_handle, to *C.heddle_info, c *C.const_control, e *C.heddle_error, work func(*engine.Collection, context.Context) (engine.CollectionInfo, error)) C.int32_t {
	return use(h, c, e, func(ctx context.Context, collection *engine.Collection) error {
		info, err := work(collection, ctx)
		if err == nil && to != nil {
			*to = ofCollection(info)
		}
		return err
	})
}
