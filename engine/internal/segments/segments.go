// Package segments keeps the segments of a collection open as parts in this process: package states has their
// states, and a coordinator joins the answers of the parts.
package segments

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"heddle/engine/collection"
	"heddle/engine/failure"
	"heddle/engine/file/container"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/part"
	"heddle/engine/internal/states"
	"heddle/engine/syntax"
)

// Collection is an open collection. It implements coordinator.Maps and coordinator.Parts for its name. It is safe
// for concurrent use. A query uses one state from its begin to its end.
type Collection struct {
	name, dir string
	open      Open
	states    *states.Set[*files, *part.Live]
}

// New returns the collection in a folder, without a state.
func New(name, dir string, open Open) *Collection {
	return &Collection{name, dir, open, states.New(live)}
}

// Name is the name of the collection in queries.
func (c *Collection) Name() string { return c.name }

// Dir is the folder.
func (c *Collection) Dir() string { return c.dir }

// Load opens the newest state, if it is not open yet. Segments that are open stay open. An error leaves the old state.
func (c *Collection) Load(ctx context.Context) (*collection.Manifest, error) {
	m, err := c.states.Load(ctx, c.open.files, c.name, c.dir)
	if m == nil && err != nil {
		return nil, c.fail(err)
	}
	return m, err
}

// fail wraps an error of a load.
func (c *Collection) fail(err error) error {
	code := failure.CodeOf(err)
	if errors.Is(err, fs.ErrNotExist) {
		code = failure.NotFound
	} else if errors.Is(err, container.ErrCorrupt) {
		code = failure.Corrupt
	}
	return &failure.Error{Code: code, Op: "load collection " + c.name, Err: err}
}

// Part implements coordinator.Parts.
func (c *Collection) Part(name string, epoch uint64, number int) (*part.Part, func(), error) {
	f, live, release, ok := c.states.Use(name, epoch, number)
	if !ok {
		return nil, nil, fmt.Errorf("segment %d of %s, state %d: %w", number, name, epoch, part.ErrEpoch)
	}
	g, err := f.index.Acquire()
	if err != nil {
		release()
		return nil, nil, err
	}
	return &part.Part{Generation: g, Live: live, Attributes: f.table}, func() { g.Release(); release() }, nil
}

// Map implements coordinator.Maps.
func (c *Collection) Map(_ context.Context, name string) (*layout.Map, error) {
	if m := c.states.Layout(name); m != nil {
		return m, nil
	}
	return nil, Missing(name)
}

// Missing is the error of the name of no collection.
func Missing(name string) error {
	return &failure.Error{Code: failure.NotFound, Op: "find index", Err: fmt.Errorf("no collection is named %s", syntax.Quote(name))}
}

// Refresh implements coordinator.Maps.
func (c *Collection) Refresh(ctx context.Context, name string) (*layout.Map, error) {
	return c.Map(ctx, name)
}

// Names implements coordinator.Maps.
func (c *Collection) Names(context.Context) ([]string, error) { return []string{c.name}, nil }

// Close closes the segments. Queries that run get errors.
func (c *Collection) Close() error { return c.states.Close() }
