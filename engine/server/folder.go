package server

import (
	"context"
	"fmt"

	"heddle/engine"
	"heddle/engine/server/catalog"
)

// AddIndex serves an index file under a new name. The error of a name in service has code InvalidOption.
func (s *Server) AddIndex(ctx context.Context, name, path string) error {
	return add(ctx, s, s.indexes, name, path)
}

// AddTable serves a table file under a new name, as AddIndex does.
func (s *Server) AddTable(ctx context.Context, name, path string) error {
	return add(ctx, s, s.tables, name, path)
}

func add[T catalog.Resource](ctx context.Context, s *Server, c *catalog.Catalog[T], name, path string) error {
	taken := c.Kind == "index" && s.isCollection(name)
	if _, err := c.Find(name); err == nil || taken {
		return nameTaken(name)
	}
	defer s.announce()
	_, err := c.Load(ctx, name, catalog.Place{Path: path})
	return err
}

func nameTaken(name string) error {
	return &engine.Error{Code: engine.InvalidOption, Op: "serve", Err: fmt.Errorf("the name %s is in service already", name)}
}

// AddCollection serves the collection in a folder under a new name, as AddIndex does.
func (s *Server) AddCollection(ctx context.Context, name, dir string) error {
	if _, err := s.indexes.Find(name); err == nil {
		return nameTaken(name)
	}
	if s.opt.Changer == nil {
		return &engine.Error{Code: engine.Unsupported, Op: "serve", Err: fmt.Errorf("%s: this server has no collections", dir)}
	}
	defer s.announce()
	return s.opt.Changer.Open(ctx, name, dir)
}

// Remove takes an index, table or collection out of service, if it serves the file or folder at path. Running queries
// end first.
func (s *Server) Remove(ctx context.Context, name, path string) error {
	defer s.announce()
	if x, err := s.indexes.Find(name); err == nil && x.Now().Path() == path {
		return s.indexes.Unload(name)
	}
	if x, err := s.tables.Find(name); err == nil && x.Now().Path() == path {
		return s.tables.Unload(name)
	}
	if s.opt.Changer != nil && s.isCollection(name) {
		return s.opt.Changer.Shut(ctx, name, path)
	}
	return nil // administration has taken it out, or serves another file
}
