package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/server/catalog"
	"heddle/engine/syntax"
)

// folder returns the path of a folder below the folder of administration, which need not exist. Symbolic links must
// not leave that folder.
func (s *Server) folder(path string) (string, error) {
	refuse := func(code engine.Code, err error) (string, error) {
		return "", &engine.Error{Code: code, Op: "find folder", Err: err}
	}
	if path == "" || strings.ContainsRune(path, 0) || !filepath.IsLocal(path) || filepath.Clean(path) == "." {
		return refuse(engine.InvalidOption, fmt.Errorf("path %s: want the path of a folder below the folder of administration", syntax.Quote(path)))
	}
	if s.opt.Root == "" {
		return refuse(engine.Forbidden, errors.New("the server has no folder for administration (setting server.root)"))
	}
	root, err := s.root()
	if err != nil {
		return refuse(engine.InvalidOption, err)
	}
	if info, err := root.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return refuse(engine.Forbidden, fmt.Errorf("%s: its parent is no folder below the folder of administration", syntax.Short(path)))
	}
	if info, err := root.Lstat(path); err == nil && !info.IsDir() {
		return refuse(engine.Forbidden, fmt.Errorf("%s: not a folder", syntax.Short(path)))
	}
	return filepath.Join(root.Name(), path), nil
}

// CreateCollection implements api.AdminServiceHandler.
func (a adminService) CreateCollection(ctx context.Context, r *api.CreateCollectionRequest) (*api.DocumentsResponse, error) {
	name := r.GetIndex()
	if err := catalog.CheckName(name); err != nil {
		return nil, &engine.Error{Code: engine.InvalidOption, Op: "create collection", Err: err}
	}
	if a.s.opt.Changer == nil {
		return nil, &engine.Error{Code: engine.Unsupported, Op: "create collection", Err: errors.New("this server has no collections of its own")}
	}
	if _, err := a.s.indexes.Find(name); err == nil || a.s.isCollection(name) {
		return nil, nameTaken(name)
	}
	dir, err := a.s.folder(name)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return nil, &engine.Error{Code: engine.InvalidOption, Op: "create collection", Err: fmt.Errorf("folder %s exists", name)}
	}
	set := &engine.CollectionSettings{Stem: r.GetStem(), StopWords: r.GetStopWords(), Fold: r.GetFold(), Store: r.GetStore(), Positions: r.GetPositions(), Fields: r.GetFields()}
	for _, x := range r.GetAttributes() {
		set.Attributes = append(set.Attributes, engine.Attribute{Name: x.GetName(), Type: x.GetType()})
	}
	defer a.s.announce()
	return a.s.opt.Changer.Create(ctx, name, dir, set)
}

// DropCollection implements api.AdminServiceHandler.
func (a adminService) DropCollection(ctx context.Context, r *api.DropCollectionRequest) (*api.DropCollectionResponse, error) {
	c, err := a.changer(r.GetIndex())
	if err != nil {
		return nil, err
	}
	defer a.s.announce()
	return &api.DropCollectionResponse{}, c.Drop(ctx, r.GetIndex(), a.s.owns)
}

// real is the absolute path of a folder without symbolic links.
func real(dir string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}

// owns returns an error unless a folder is below the folder of administration. Symbolic links do not count.
func (s *Server) owns(dir string) error {
	refused := &engine.Error{Code: engine.Forbidden, Op: "drop collection", Err: errors.New("the collection is not below the folder of administration (setting server.root)")}
	if s.opt.Root == "" {
		return refused
	}
	at, err := real(dir)
	if err != nil {
		return err
	}
	root, err := real(s.opt.Root)
	if err != nil {
		return err
	}
	if below, err := filepath.Rel(root, at); err != nil || !filepath.IsLocal(below) || below == "." {
		return refused
	}
	return nil
}

// BackupCollection implements api.AdminServiceHandler.
func (a adminService) BackupCollection(ctx context.Context, r *api.BackupCollectionRequest) (*api.BackupCollectionResponse, error) {
	c, err := a.changer(r.GetIndex())
	if err != nil {
		return nil, err
	}
	to, err := a.s.folder(r.GetPath())
	if err != nil {
		return nil, err
	}
	return c.Backup(ctx, r.GetIndex(), to)
}
