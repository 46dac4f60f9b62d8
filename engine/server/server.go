package server

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"connectrpc.com/connect/v2"

	"heddle/engine"
	"heddle/engine/api"
)

// Server serves indexes and tables of an engine. It is safe for concurrent use.
type Server struct {
	engine *engine.Engine
	opt    Options

	indexes map[string]*served[engine.Index]
	tables  map[string]*served[engine.Table]
	slots   chan struct{} // of running requests
	rpc     *connect.Server
	admin   *connect.Server

	mu       sync.Mutex
	draining bool
	drain    chan struct{} // closed when draining begins
	changed  chan struct{} // closed at the next change of readiness
}

// served is an index or a table with its file.
type served[T any] struct {
	kind, name, path string

	open     atomic.Pointer[T] // nil until the file is loaded
	checksum atomic.Uint64
	reload   sync.Mutex // one load or reload at a time
}

// New returns a server on an engine. The caller closes the engine after Serve has returned.
func New(e *engine.Engine, opt Options) (*Server, error) {
	opt.ensureDefaults()
	if err := opt.validate(); err != nil {
		return nil, &engine.Error{Code: engine.InvalidOption, Op: "new server", Err: err}
	}
	s := &Server{
		engine: e, opt: opt, slots: make(chan struct{}, opt.Limits.Concurrency),
		indexes: map[string]*served[engine.Index]{}, tables: map[string]*served[engine.Table]{},
		drain: make(chan struct{}), changed: make(chan struct{}),
	}
	for name, path := range opt.Indexes {
		s.indexes[name] = &served[engine.Index]{kind: "index", name: name, path: path}
	}
	for name, path := range opt.Tables {
		s.tables[name] = &served[engine.Table]{kind: "table", name: name, path: path}
	}
	s.rpc = connect.NewServer(s.intercept)
	api.RegisterIndexServiceHandler(s.rpc, indexService{s})
	api.RegisterTableServiceHandler(s.rpc, tableService{s})
	api.RegisterMachineServiceHandler(s.rpc, machineService{s})
	s.rpc.Register(health{s}.methods()...)
	s.admin = connect.NewServer(s.intercept)
	api.RegisterAdminServiceHandler(s.admin, adminService{s})
	return s, nil
}

// Load opens the files of the server. It returns the first error.
func (s *Server) Load(ctx context.Context) error {
	defer s.announce()
	for err := range s.loads(ctx) {
		if err != nil {
			return err
		}
	}
	return nil
}

// Reload opens the files of all indexes and tables again and changes to their new contents
// without a gap. A file with an error leaves the old content in service. Calls may overlap.
func (s *Server) Reload(ctx context.Context) error {
	defer s.announce()
	return errors.Join(slices.Collect(s.loads(ctx))...)
}

// loads opens or reloads one file after the other and yields the result of each.
func (s *Server) loads(ctx context.Context) iter.Seq[error] {
	return func(yield func(error) bool) {
		for _, name := range slices.Sorted(maps.Keys(s.indexes)) {
			if !yield(s.loadIndex(ctx, s.indexes[name])) {
				return
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.tables)) {
			if !yield(s.loadTable(ctx, s.tables[name])) {
				return
			}
		}
	}
}

// loadIndex opens the file of an index, or reloads it.
func (s *Server) loadIndex(ctx context.Context, x *served[engine.Index]) error {
	return load(s, x, func() (*engine.Index, error) {
		return s.engine.OpenIndex(ctx, x.path, engine.IndexOptions{Trusted: s.opt.Trusted})
	}, func(open *engine.Index) error { return open.Reload(ctx, x.path) }, func(open *engine.Index) (uint64, error) {
		info, err := open.Info()
		return info.Checksum, err
	})
}

// loadTable opens the file of a table, or reloads it.
func (s *Server) loadTable(ctx context.Context, x *served[engine.Table]) error {
	return load(s, x, func() (*engine.Table, error) {
		return s.engine.OpenTable(ctx, x.path, engine.TableOptions{Trusted: s.opt.Trusted})
	}, func(open *engine.Table) error { return open.Reload(ctx, x.path) }, func(open *engine.Table) (uint64, error) {
		info, err := open.Info()
		return info.Checksum, err
	})
}

// load brings the file of x into service, by open the first time and by reload later.
func load[T any](s *Server, x *served[T], open func() (*T, error), reload func(*T) error, checksum func(*T) (uint64, error)) error {
	x.reload.Lock()
	defer x.reload.Unlock()
	content := x.open.Load()
	var err error
	if content == nil {
		content, err = open()
	} else {
		err = reload(content)
	}
	var sum uint64
	if err == nil {
		sum, err = checksum(content)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", x.kind, x.name, err)
	}
	x.checksum.Store(sum)
	x.open.Store(content)
	s.opt.Log.Info().Str(x.kind, x.name).Str("file", x.path).Str("checksum", hex(sum)).Msg("in service")
	return nil
}

func hex(checksum uint64) string { return fmt.Sprintf("%016x", checksum) }

// find returns the index or table of a name.
func find[T any](all map[string]*served[T], kind, name string) (*served[T], *T, error) {
	x, ok := all[name]
	if !ok {
		return nil, nil, &engine.Error{Code: engine.NotFound, Op: "find " + kind, Err: fmt.Errorf("no %s is named %q", kind, name)}
	}
	open := x.open.Load()
	if open == nil {
		return x, nil, &engine.Error{Code: engine.Closed, Op: "find " + kind, Err: fmt.Errorf("%s %s is not loaded yet", kind, name)}
	}
	return x, open, nil
}

func (s *Server) index(name string) (*engine.Index, error) {
	_, x, err := find(s.indexes, "index", name)
	return x, err
}

// snapshot pins the content of an index, which the caller closes.
func (s *Server) snapshot(index string) (*engine.Snapshot, error) {
	x, err := s.index(index)
	if err != nil {
		return nil, err
	}
	return x.Snapshot()
}

func (s *Server) table(name string) (*engine.Table, error) {
	_, t, err := find(s.tables, "table", name)
	return t, err
}
