//go:build cgo

package main

// #include <stdlib.h>
// #include "const.h"
import "C"

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unsafe"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/failure"
)

// heddle_abi_version returns HEDDLE_ABI_VERSION of the library.
//
//export heddle_abi_version
func heddle_abi_version() C.uint32_t { return C.HEDDLE_ABI_VERSION }

// heddle_version returns the version of heddle, such as "0.1.0". The text stays valid.
//
//export heddle_version
func heddle_version() *C.const_char { return (*C.const_char)(C.heddle_texts[C.heddle_texts_version]) }

// heddle_code_name returns the name of a code, such as "invalid_query", or NULL for a number that is no code. The
// text stays valid.
//
//export heddle_code_name
func heddle_code_name(code C.int32_t) *C.const_char {
	if code < 0 || code >= C.heddle_texts_version {
		return nil
	}
	return (*C.const_char)(C.heddle_texts[code])
}

// heddle_free releases memory of the library, and sets `bytes` to zero. NULL and zero have no effect.
//
//export heddle_free
func heddle_free(bytes *C.heddle_bytes) {
	if bytes != nil {
		C.free(unsafe.Pointer(bytes.data))
		*bytes = C.heddle_bytes{}
	}
}

// heddle_engine_open opens the processors of the machine. `file` is a TOML file of heddle's configuration, and may
// be NULL. `settings` are lines such as "devices.backend=host", which precede the file, and may be NULL. Variables of
// the environment have no effect. Open one engine in a process: it serves all indexes, tables and threads.
//
//export heddle_engine_open
func heddle_engine_open(file, settings *C.const_char, handle *C.heddle_handle, fault *C.heddle_error) C.int32_t {
	return call(fault, func() error {
		if handle == nil {
			return invalid("the pointer to the new handle is NULL")
		}
		sources := config.Sources{File: text(file)}
		for line := range strings.Lines(text(settings)) {
			if line = strings.TrimSpace(line); line != "" {
				key, value, _ := strings.Cut(line, "=")
				sources.Flags = append(sources.Flags, config.Flag{Name: key, Key: key, Value: value})
			}
		}
		c, err := config.Load(sources)
		if err != nil {
			return failure.Invalid("open engine", err)
		}
		opt, err := engine.OptionsOf(c)
		if err != nil {
			return err
		}
		e, err := engine.New(context.Background(), opt)
		if err == nil {
			*handle = C.heddle_handle(open.Add(0, e))
		}
		return err
	})
}

// heddle_index_open opens an index file (.hdl).
//
//export heddle_index_open
func heddle_index_open(owner C.heddle_handle, path *C.const_char, handle *C.heddle_handle, control *C.const_control, fault *C.heddle_error) C.int32_t {
	return opened(owner, handle, control, fault, func(ctx context.Context, e *engine.Engine) (io.Closer, error) {
		if path == nil {
			return nil, noPath()
		}
		return e.OpenIndex(ctx, text(path), engine.IndexOptions{})
	})
}

// heddle_table_open opens a table file (.hdb), or a folder of tables with equal columns.
//
//export heddle_table_open
func heddle_table_open(owner C.heddle_handle, path *C.const_char, handle *C.heddle_handle, control *C.const_control, fault *C.heddle_error) C.int32_t {
	return opened(owner, handle, control, fault, func(ctx context.Context, e *engine.Engine) (io.Closer, error) {
		if path == nil {
			return nil, noPath()
		}
		return e.OpenTable(ctx, text(path), engine.TableOptions{})
	})
}

// collectionSettings are the settings of a collection in JSON.
type collectionSettings struct {
	Stem       string             `json:"stem"`
	StopWords  []string           `json:"stop_words"`
	Fold       bool               `json:"fold"`
	Store      string             `json:"store"`
	Positions  bool               `json:"positions"`
	Fields     []string           `json:"fields"`
	Attributes []engine.Attribute `json:"attributes"`
}

// heddle_collection_open opens the collection in a folder. `settings` may be NULL: then the collection must be there.
// Else they make it in an absent or empty folder: JSON with the members stem ("english"), stop_words, fold, store
// ("text" or "source"), positions (true for phrases), fields (["title","body"]) and attributes
// ([{"name":"year","type":"int"}]), each of which may be absent.
//
//export heddle_collection_open
func heddle_collection_open(owner C.heddle_handle, path, settings *C.const_char, handle *C.heddle_handle, control *C.const_control, fault *C.heddle_error) C.int32_t {
	return opened(owner, handle, control, fault, func(ctx context.Context, e *engine.Engine) (io.Closer, error) {
		if path == nil {
			return nil, noPath()
		}
		opt := engine.CollectionOptions{Creator: "heddle " + version}
		if settings != nil {
			var s collectionSettings
			if err := parse(text(settings), &s); err != nil {
				return nil, err
			}
			opt.Create = &engine.CollectionSettings{
				Stem: s.Stem, StopWords: s.StopWords, Fold: s.Fold, Store: s.Store, Positions: s.Positions, Fields: s.Fields, Attributes: s.Attributes,
			}
		}
		return e.OpenCollection(ctx, text(path), opt)
	})
}

func noPath() error { return invalid("path is NULL") }

// parse reads settings, one object in JSON without unknown members.
func parse(from string, to any) error {
	d := json.NewDecoder(strings.NewReader(from))
	d.DisallowUnknownFields()
	err := d.Decode(to)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		return invalid("settings: %s cannot be %s", cmp.Or(kind.Field, "JSON"), kind.Value)
	case err != nil:
		return invalid("settings: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return invalid("settings: more than one object of JSON")
	}
	return nil
}

// heddle_snapshot_open pins the content of an index or a collection: answers and names belong to one state whatever
// changes follow. Close it soon. It takes the place of the index or collection in heddle_search and heddle_names.
//
//export heddle_snapshot_open
func heddle_snapshot_open(source C.heddle_handle, handle *C.heddle_handle, fault *C.heddle_error) C.int32_t {
	return opened(source, handle, nil, fault, func(_ context.Context, v io.Closer) (io.Closer, error) {
		switch x := v.(type) {
		case *engine.Index:
			return x.Snapshot()
		case *engine.Collection:
			return x.Snapshot()
		}
		return nil, wrongKind()
	})
}

// wrongKind is the error of a handle that stands for a value of another kind.
func wrongKind() error {
	return &problem{C.HEDDLE_INVALID_HANDLE, "the handle stands for a value of another kind"}
}

// heddle_token_open makes a token, which ends calls of other threads.
//
//export heddle_token_open
func heddle_token_open(handle *C.heddle_handle, fault *C.heddle_error) C.int32_t {
	return call(fault, func() error {
		if handle == nil {
			return invalid("the pointer to the new handle is NULL")
		}
		ctx, cancel := context.WithCancel(context.Background())
		*handle = C.heddle_handle(open.Add(0, &stopper{ctx, cancel}))
		return nil
	})
}

// heddle_cancel ends all calls with the token, and later ones: they return HEDDLE_CANCELED.
//
//export heddle_cancel
func heddle_cancel(handle C.heddle_handle, fault *C.heddle_error) C.int32_t {
	return use(handle, nil, fault, func(_ context.Context, t *stopper) error { return t.Close() })
}

// heddle_close closes what a handle stands for, when no call uses it any more, and before it all that was opened
// with it: an engine closes its indexes, an index its snapshots.
//
//export heddle_close
func heddle_close(value C.heddle_handle, fault *C.heddle_error) C.int32_t {
	return call(fault, func() error { return open.Close(uint64(value)) })
}

// heddle_info_of describes an index, a table, a collection or a snapshot.
//
//export heddle_info_of
func heddle_info_of(source C.heddle_handle, info *C.heddle_info, fault *C.heddle_error) C.int32_t {
	return use(source, nil, fault, func(ctx context.Context, v io.Closer) error {
		if info == nil {
			return invalid("info is NULL")
		}
		switch x := v.(type) {
		case *engine.Index:
			i, err := x.Info()
			*info = ofIndex(i)
			return err
		case *engine.Snapshot:
			*info = ofIndex(x.Info())
			return nil
		case *engine.Table:
			i, err := x.Info()
			*info = C.heddle_info{documents: C.uint64_t(i.Rows), bound: C.uint64_t(i.Rows), state: C.uint64_t(i.Checksum), segments: 1}
			return err
		case *engine.CollectionSnapshot:
			*info = ofCollection(x.Info())
			return nil
		case *engine.Collection:
			s, err := x.Snapshot()
			if err != nil {
				return err
			}
			*info = ofCollection(s.Info())
			return s.Close()
		}
		return wrongKind()
	})
}

func ofIndex(i engine.IndexInfo) C.heddle_info {
	return C.heddle_info{documents: C.uint64_t(i.Docs), bound: C.uint64_t(i.Docs), state: C.uint64_t(i.Checksum), segments: 1}
}

func ofCollection(i engine.CollectionInfo) C.heddle_info {
	return C.heddle_info{documents: C.uint64_t(i.Documents), bound: C.uint64_t(i.Bound), state: C.uint64_t(i.State), segments: C.uint64_t(i.Segments)}
}
