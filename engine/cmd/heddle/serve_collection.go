package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/rs/zerolog"

	"heddle/engine/collection"
	"heddle/engine/collection/feed"
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
