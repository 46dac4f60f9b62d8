package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"connectrpc.com/connect/v2"
	"github.com/rs/zerolog"

	"heddle/engine"
	"heddle/engine/collection"
	"heddle/engine/collection/feed"
	"heddle/engine/server"
)

// takeCollections moves the folders among the files of indexes to dirs.
func takeCollections(files map[string]string) (dirs map[string]string, err error) {
	dirs = map[string]string{}
	for name, path := range files {
		folder, err := isCollection(path)
		if err != nil {
			return nil, err
		}
		if folder {
			dirs[name] = path
			delete(files, name)
		}
	}
	return dirs, nil
}

// newFeed changes collections on behalf of administration.
func newFeed(dirs map[string]string, load func(context.Context, string) error, log zerolog.Logger) *feed.Feed {
	return feed.New(feed.Options{Dirs: dirs, Creator: thisBuild().String(), Load: load, Merged: func(name string, err error) {
		if err != nil {
			log.Error().Err(err).Str("collection", name).Msg("segments could not be joined")
		}
	}})
}

// collectionsOf returns the collections in a folder, as NAME=FOLDER.
func collectionsOf(dir string) (found []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); collection.Is(path) { // also behind a symbolic link
			found = append(found, e.Name()+"="+path)
		}
	}
	return found, nil
}

// services are several parts of a server.
type services []server.Service

func (all services) Register(s *connect.Server) {
	for _, x := range all {
		x.Register(s)
	}
}

func (all services) Load(ctx context.Context, e *engine.Engine) (err error) {
	for _, x := range all {
		err = errors.Join(err, x.Load(ctx, e))
	}
	return err
}

func (all services) Ready() error {
	for _, x := range all {
		if err := x.Ready(); err != nil {
			return err
		}
	}
	return nil
}
