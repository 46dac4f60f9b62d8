package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rs/zerolog"

	"heddle/engine/collection/attributes"
	"heddle/engine/file/container"
	"heddle/engine/file/input"
	"heddle/engine/file/scratch"
	"heddle/engine/index/build"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/hdb"
)

// validateAttributes checks the flags that --attributes excludes, and its file.
func (o *indexBuildOptions) validateAttributes() error {
	switch {
	case o.format != string(build.JSONL) && o.format != string(build.Auto):
		return errors.New("--attributes is for --format jsonl")
	case o.invalid == string(input.Skip) || o.shards > 0 || o.renumber != build.RenumberNone:
		return errors.New("--attributes excludes --invalid skip, --shards and --renumber: row i of the table is document i")
	}
	if filepath.Clean(o.attributes) == filepath.Clean(o.out) {
		return fmt.Errorf("--attributes and --output both name %s: the table would replace the index", o.out)
	}
	for _, path := range o.inputs {
		switch st, err := os.Stat(path); {
		case path == "-" || err == nil && st.IsDir():
			return errors.New("--attributes reads the inputs a second time: name files, neither folders nor -")
		case err == nil && !st.Mode().IsRegular():
			return fmt.Errorf("--attributes reads the inputs a second time: %s is no regular file, copy it to one", path)
		}
	}
	err := container.CheckTarget(o.attributes)
	if st, missing := os.Stat(o.attributes); err == nil && missing == nil && st.Size() > 0 && !hdb.Is(o.attributes) {
		err = fmt.Errorf("%s is no table: %w", o.attributes, container.ErrForeign)
	}
	if err != nil && !(o.force && errors.Is(err, container.ErrForeign)) {
		return fmt.Errorf("--attributes: %w", forcible(err))
	}
	return nil
}

// attributeTable is a complete table in a temporary folder, until its index is complete. It is also
// the disk of the index.
type attributeTable struct {
	container.Disk
	temp, path string
}

// buildAttributes builds the table of the inputs. The build of the index fails if it has another
// number of documents.
func (o *indexBuildOptions) buildAttributes(ctx context.Context, log *zerolog.Logger, opt *build.Options, memory uint64) (*attributeTable, error) {
	d := container.OSDisk{}
	temp, err := d.MkdirTemp(o.attributes)
	if err != nil {
		return nil, err
	}
	t := &attributeTable{d, temp, o.attributes}
	r, err := attributes.Build(ctx, t.file(), o.inputs, attributes.Options{Invalid: opt.Invalid, Warn: func(text string) { log.Warn().Msg(text) },
		Options: tablebuild.Options{Memory: memory, Creator: thisBuild().String(), Source: strings.Join(o.inputs, ", ")}})
	if err != nil {
		return nil, errors.Join(err, t.remove())
	}
	opt.Documents, opt.Disk = uint64(r.Rows), t
	return t, nil
}

func (t *attributeTable) file() string { return filepath.Join(t.temp, "table.hdb") }

// Rename gives the complete index its name. It takes the old table away before: a crash leaves the
// index without a table, never with the table of other documents.
func (t *attributeTable) Rename(from, to string) error {
	st, err := os.Stat(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return t.Disk.Rename(from, to)
	}
	if err != nil {
		return err
	}
	old := filepath.Join(t.temp, "old.hdb")
	if err := errors.Join(os.Chmod(t.file(), st.Mode().Perm()), t.Disk.Rename(t.path, old)); err != nil {
		return err
	}
	err = t.SyncDir(filepath.Dir(t.path))
	if err == nil {
		err = t.Disk.Rename(from, to)
	}
	if err != nil {
		err = errors.Join(err, t.Disk.Rename(old, t.path)) // the index is the old one, too
	}
	return err
}

// publish gives the table its name.
func (t *attributeTable) publish() error {
	return errors.Join(t.Disk.Rename(t.file(), t.path), t.SyncDir(filepath.Dir(t.path)))
}

// remove removes the temporary folder.
func (t *attributeTable) remove() error { return scratch.RemoveAll(t.temp) }
