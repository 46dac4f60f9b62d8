package server

import (
	"context"
	"errors"
	"fmt"
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
	for _, name := range slices.Sorted(maps.Keys(s.indexes)) {
		if err := s.loadIndex(ctx, s.indexes[name]); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.tables)) {
		if err := s.loadTable(ctx, s.tables[name]); err != nil {
			return err
		}
	}
	return nil
}

// Reload opens the files of all indexes and tables again and changes to their new contents
// without a gap. A file with an error leaves the old content in service. Calls may overlap.
func (s *Server) Reload(ctx context.Context) error {
	defer s.announce()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(s.indexes)) {
		errs = append(errs, s.loadIndex(ctx, s.indexes[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(s.tables)) {
		errs = append(errs, s.loadTable(ctx, s.tables[name]))
	}
	return errors.Join(errs...)
}

// loadIndex opens the file of an index, or reloads it.
func (s *Server) loadIndex(ctx context.Context, x *served[engine.Index]) error {
	x.reload.Lock()
	defer x.reload.Unlock()
	open := x.open.Load()
	var err error
	if open == nil {
		open, err = s.engine.OpenIndex(ctx, x.path, engine.IndexOptions{Trusted: s.opt.Trusted})
	} else {
		err = open.Reload(ctx, x.path)
	}
	if err != nil {
		return x.failed(err)
	}
	snapshot, err := open.Snapshot()
	if err != nil {
		return x.failed(err)
	}
	defer snapshot.Close()
	x.loaded(s, open, snapshot.File().Checksum())
	return nil
}

// loadTable opens the file of a table, or reloads it.
func (s *Server) loadTable(ctx context.Context, x *served[engine.Table]) error {
	x.reload.Lock()
	defer x.reload.Unlock()
	open := x.open.Load()
	var err error
	if open == nil {
		open, err = s.engine.OpenTable(ctx, x.path, engine.TableOptions{Trusted: s.opt.Trusted})
	} else {
		err = open.Reload(ctx, x.path)
	}
	if err != nil {
		return x.failed(err)
	}
	info, err := open.Info()
	if err != nil {
		return x.failed(err)
	}
	x.loaded(s, open, info.Checksum)
	return nil
}

func (x *served[T]) failed(err error) error { return fmt.Errorf("%s %s: %w", x.kind, x.name, err) }

func (x *served[T]) loaded(s *Server, open *T, checksum uint64) {
	x.checksum.Store(checksum)
	x.open.Store(open)
	s.opt.Log.Info().Str(x.kind, x.name).Str("file", x.path).Str("checksum", hex(checksum)).Msg("in service")
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

func (s *Server) table(name string) (*engine.Table, error) {
	_, t, err := find(s.tables, "table", name)
	return t, err
}
