package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/file/container"
	"heddle/engine/server/catalog"
	"heddle/engine/syntax"
)

// adminService implements api.AdminServiceHandler.
type adminService struct{ s *Server }

// LoadIndex implements api.AdminServiceHandler.
func (a adminService) LoadIndex(ctx context.Context, r *api.LoadIndexRequest) (*api.LoadIndexResponse, error) {
	if name := r.GetIndex(); a.s.isCollection(name) {
		return nil, &engine.Error{Code: engine.InvalidOption, Op: "load index", Err: fmt.Errorf("the name %s belongs to a collection", name)}
	}
	sum, err := loadBelow(ctx, a.s, a.s.indexes, r.GetIndex(), r.GetPath())
	return &api.LoadIndexResponse{Checksum: sum}, err
}

// LoadTable implements api.AdminServiceHandler.
func (a adminService) LoadTable(ctx context.Context, r *api.LoadTableRequest) (*api.LoadTableResponse, error) {
	sum, err := loadBelow(ctx, a.s, a.s.tables, r.GetTable(), r.GetPath())
	return &api.LoadTableResponse{Checksum: sum}, err
}

// loadBelow serves a file below the folder of administration.
func loadBelow[T catalog.Resource](ctx context.Context, s *Server, c *catalog.Catalog[T], name, path string) (checksum string, err error) {
	at, err := s.below(path)
	if err != nil {
		return "", err
	}
	defer s.announce()
	now, err := c.Load(ctx, name, at)
	return checksumOf(now, c.Kind, err)
}

// checksumOf returns the checksum of a file in service, or the error of a file that could not be
// opened. A file of another kind is a mistake of the administrator, not a damaged file.
func checksumOf[T catalog.Resource](now *catalog.Content[T], kind string, err error) (string, error) {
	if wrong, ok := errors.AsType[*container.CorruptError](err); ok && wrong.Foreign {
		return "", &engine.Error{Code: engine.InvalidOption, Op: "load " + kind, Err: fmt.Errorf("%s: %s", wrong.Path, wrong.Reason)}
	}
	if err != nil {
		return "", err
	}
	return now.Checksum, nil
}

// below returns the place of a file below the folder of administration. Symbolic links must not leave the folder.
func (s *Server) below(path string) (at catalog.Place, err error) {
	refuse := func(code engine.Code, err error) (catalog.Place, error) {
		return catalog.Place{}, &engine.Error{Code: code, Op: "load", Err: err}
	}
	if path == "" {
		return refuse(engine.InvalidOption, errors.New("path is missing"))
	}
	if s.opt.Root == "" {
		return refuse(engine.Forbidden, errors.New("the server has no folder for administration (setting server.root)"))
	}
	root, err := s.root()
	if err != nil {
		return refuse(engine.InvalidOption, err)
	}
	info, err := root.Stat(path)
	if wrong, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("%s: %w", syntax.Short(path), wrong.Err)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse(engine.NotFound, err)
	case err != nil:
		return refuse(engine.Forbidden, err)
	case !info.Mode().IsRegular():
		return refuse(engine.InvalidOption, fmt.Errorf("%s: not a regular file", syntax.Short(path)))
	}
	return catalog.Place{Root: root, Path: path}, nil
}

// UnloadIndex implements api.AdminServiceHandler.
func (a adminService) UnloadIndex(_ context.Context, r *api.UnloadIndexRequest) (*api.UnloadIndexResponse, error) {
	defer a.s.announce()
	return &api.UnloadIndexResponse{}, a.s.indexes.Unload(r.GetIndex())
}

// UnloadTable implements api.AdminServiceHandler.
func (a adminService) UnloadTable(_ context.Context, r *api.UnloadTableRequest) (*api.UnloadTableResponse, error) {
	defer a.s.announce()
	return &api.UnloadTableResponse{}, a.s.tables.Unload(r.GetTable())
}

// ReloadIndex implements api.AdminServiceHandler.
func (a adminService) ReloadIndex(ctx context.Context, r *api.ReloadIndexRequest) (*api.ReloadIndexResponse, error) {
	sum, err := reloadOne(ctx, a.s.indexes, r.GetIndex())
	return &api.ReloadIndexResponse{Checksum: sum}, err
}

// ReloadTable implements api.AdminServiceHandler.
func (a adminService) ReloadTable(ctx context.Context, r *api.ReloadTableRequest) (*api.ReloadTableResponse, error) {
	sum, err := reloadOne(ctx, a.s.tables, r.GetTable())
	return &api.ReloadTableResponse{Checksum: sum}, err
}

func reloadOne[T catalog.Resource](ctx context.Context, c *catalog.Catalog[T], name string) (checksum string, err error) {
	x, err := c.Find(name)
	if err != nil {
		return "", err
	}
	now, err := c.Reload(ctx, x, catalog.Place{})
	return checksumOf(now, c.Kind, err)
}

// Drain implements api.AdminServiceHandler.
func (a adminService) Drain(context.Context, *api.DrainRequest) (*api.DrainResponse, error) {
	a.s.Drain()
	return &api.DrainResponse{}, nil
}

// GetConfig implements api.AdminServiceHandler.
func (a adminService) GetConfig(context.Context, *api.GetConfigRequest) (*api.Config, error) {
	out := &api.Config{}
	if a.s.opt.Settings != nil {
		out.Settings = a.s.opt.Settings()
	}
	return out, nil
}
