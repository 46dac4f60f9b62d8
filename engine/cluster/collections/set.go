// Package collections serves the collections of a server: it answers queries on their newest states, follows their
// folders, and changes them on behalf of clients.
package collections

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"connectrpc.com/connect/v2"
	"github.com/rs/zerolog"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster"
	"heddle/engine/collection"
	"heddle/engine/internal/coordinator"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/part"
	"heddle/engine/internal/segments"
)

// Set is the collections of a server, by name. It implements cluster.Maps, coordinator.Parts, server.Service and
// server.Changer. It is safe for concurrent use.
type Set struct {
	creator string
	log     zerolog.Logger
	engine  atomic.Pointer[engine.Engine] // nil before Load

	mu  sync.RWMutex
	all map[string]*served
}

var _ interface {
	cluster.Maps
	coordinator.Parts
} = (*Set)(nil)

// served is a collection in service.
type served struct {
	*engine.Collection // nil before Load
	dir                string
	queue
	watched
}

// New returns a set of the collections in folders, by name. Creator is the name and version of the program, for the
// files. Load opens the collections.
func New(dirs map[string]string, creator string, log zerolog.Logger) *Set {
	s := &Set{creator: creator, log: log, all: map[string]*served{}}
	for name, dir := range dirs {
		s.all[name] = newServed(dir)
	}
	return s
}

func newServed(dir string) *served {
	x := &served{dir: dir}
	x.closing = make(chan struct{})
	x.look(dir)
	return x
}

// Coordinator returns a coordinator that answers queries on the collections.
func (s *Set) Coordinator(opt cluster.Options) *cluster.Coordinator { return cluster.Within(s, s, opt) }

// Register implements server.Service.
func (s *Set) Register(*connect.Server) {}

// Load implements server.Service: it opens the newest states.
func (s *Set) Load(ctx context.Context, e *engine.Engine) (err error) {
	s.mu.RLock()
	all := maps.Clone(s.all)
	s.mu.RUnlock()
	for name, x := range all {
		if x.Collection != nil { // a signal to look again
			_, wrong := x.Refresh(ctx)
			err = errors.Join(err, wrong)
			continue
		}
		c, wrong := s.open(ctx, e, name, x.dir)
		if wrong != nil {
			err = errors.Join(err, wrong)
			continue
		}
		s.mu.Lock()
		x.Collection = c
		s.mu.Unlock()
	}
	if err == nil {
		s.engine.Store(e)
	}
	return err
}

func (s *Set) open(ctx context.Context, e *engine.Engine, name, dir string) (*engine.Collection, error) {
	return e.OpenCollection(ctx, dir, engine.CollectionOptions{Name: name, Creator: s.creator})
}

// Open implements server.Changer.
func (s *Set) Open(ctx context.Context, name, dir string) error {
	return s.openWith(ctx, name, dir, nil)
}

// Create implements server.Changer.
func (s *Set) Create(ctx context.Context, name, dir string, settings *engine.CollectionSettings) (*api.DocumentsResponse, error) {
	if err := s.openWith(ctx, name, dir, settings); err != nil {
		return nil, err
	}
	return &api.DocumentsResponse{Epoch: 1}, nil
}

// Drop implements server.Changer.
func (s *Set) Drop(ctx context.Context, name string, allow func(dir string) error) error {
	x, err := s.find(name)
	if err == nil {
		err = allow(x.dir)
	}
	if err == nil {
		err = s.Shut(ctx, name, x.dir)
	}
	if err != nil {
		return err
	}
	return collection.Remove(x.dir)
}

func (s *Set) openWith(ctx context.Context, name, dir string, create *engine.CollectionSettings) error {
	if err := s.Ready(); err != nil {
		return err
	}
	s.mu.RLock()
	old := s.all[name]
	s.mu.RUnlock()
	if old != nil && sameFolder(old.dir, dir) {
		return nil
	}
	x := newServed(dir)
	c, err := s.engine.Load().OpenCollection(ctx, dir, engine.CollectionOptions{Name: name, Creator: s.creator, Create: create})
	if err != nil {
		return err
	}
	x.Collection = c
	s.mu.Lock()
	if old = s.all[name]; old == nil {
		s.all[name] = x
	}
	s.mu.Unlock()
	if old != nil {
		return errors.Join(&engine.Error{Code: engine.InvalidOption, Op: "serve", Err: fmt.Errorf("the name %s is in service already", name)}, c.Close())
	}
	s.log.Info().Str("collection", name).Str("folder", dir).Msg("in service")
	return nil
}

// sameFolder reports whether two paths are of one folder.
func sameFolder(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// Snapshot implements server.Changer.
func (s *Set) Snapshot(name string) (*engine.CollectionSnapshot, error) {
	x, err := s.find(name)
	if err != nil {
		return nil, err
	}
	return x.Collection.Snapshot()
}

// Shut implements server.Changer.
func (s *Set) Shut(_ context.Context, name, dir string) error {
	s.mu.Lock()
	x := s.all[name]
	if x == nil || x.dir != dir {
		s.mu.Unlock()
		return nil
	}
	delete(s.all, name)
	s.mu.Unlock()
	err := x.close()
	s.log.Info().Str("collection", name).Msg("out of service")
	return err
}

// Ready implements server.Service.
func (s *Set) Ready() error {
	if s.engine.Load() == nil {
		return &engine.Error{Code: engine.Closed, Op: "find collections", Err: errors.New("the collections are not loaded yet")}
	}
	return nil
}

// find returns a collection that is open.
func (s *Set) find(name string) (*served, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if x := s.all[name]; x != nil && x.Collection != nil {
		return x, nil
	}
	return nil, segments.Missing(name)
}

// Part implements coordinator.Parts.
func (s *Set) Part(name string, epoch uint64, number int) (*part.Part, func(), error) {
	x, err := s.find(name)
	if err != nil {
		return nil, nil, err
	}
	return x.Internal().Part(name, epoch, number)
}

// Map implements cluster.Maps.
func (s *Set) Map(ctx context.Context, name string) (*layout.Map, error) {
	x, err := s.find(name)
	if err != nil {
		return nil, err
	}
	return x.Internal().Map(ctx, name)
}

// Refresh implements cluster.Maps.
func (s *Set) Refresh(ctx context.Context, name string) (*layout.Map, error) { return s.Map(ctx, name) }

// Names implements cluster.Maps.
func (s *Set) Names(context.Context) ([]string, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Collect(maps.Keys(s.all)), nil
}

// Close waits for the running changes and merges, and closes all collections. Queries that run get errors.
func (s *Set) Close() error {
	s.mu.Lock()
	all := s.all
	s.all = map[string]*served{}
	s.mu.Unlock()
	var errs []error
	for _, x := range all {
		errs = append(errs, x.close())
	}
	return errors.Join(errs...)
}

// close ends the changes of a collection and closes it.
func (x *served) close() error {
	close(x.closing)
	x.runs.Wait()
	if x.Collection == nil {
		return nil
	}
	return x.Collection.Close()
}
