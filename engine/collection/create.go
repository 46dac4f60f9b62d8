package collection

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"heddle/engine/collection/attributes"
	"heddle/engine/file/container"
	"heddle/engine/file/scratch"
	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
	"heddle/engine/internal/layout"
)

// Create makes a collection without documents in a new or empty folder. The settings of opt hold for
// all documents: its analysis, codecs, lengths and stored texts or sources. With sources, the options Text and ID hold
// for all documents too. Impacts are refused, because they depend on all documents. With columns, each segment has an
// attribute table of the members of JSON lines with these names.
//
// A folder that Create has made is removed after an error. A folder with other files is refused with
// fs.ErrExist, and a folder in which another process works with ErrLocked.
func Create(ctx context.Context, dir string, opt build.Options, columns ...attributes.Column) error {
	return createOn(ctx, container.OSDisk{}, dir, opt, columns...)
}

func createOn(ctx context.Context, d container.Disk, dir string, opt build.Options, columns ...attributes.Column) (err error) {
	if err := attributes.Check(columns); err != nil {
		return err
	}
	if opt.Impacts > 0 {
		return errors.New("a collection has no impacts: they depend on all documents; build an index instead")
	}
	made := d.Mkdir(dir)
	if made != nil && !errors.Is(made, fs.ErrExist) {
		return made
	}
	if err := vacant(dir); err != nil { // before the lock: a folder of other files gets no file
		return err
	}
	f, err := take(dir)
	if err != nil {
		return err
	}
	if err := vacant(dir); err != nil { // another process was faster
		return errors.Join(err, f.Close())
	}
	defer func() {
		if err = errors.Join(err, f.Close()); made == nil && err != nil {
			err = errors.Join(err, scratch.RemoveAll(dir))
		}
	}()
	if err := createIn(ctx, d, dir, opt, columns); err != nil || made != nil {
		return err
	}
	return d.SyncDir(filepath.Dir(dir))
}

// Remove removes a collection: first its manifest, so that a crash leaves no part of a collection, then its other files,
// and the folder if it is empty then. No process may change the collection.
func Remove(dir string) error {
	f, err := take(dir)
	if err != nil {
		return err
	}
	err = os.Remove(filepath.Join(dir, layout.ManifestName))
	entries, wrong := os.ReadDir(dir)
	if err = errors.Join(err, wrong); err == nil {
		for _, e := range entries {
			if own().MatchString(e.Name()) {
				err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
			}
		}
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Remove(filepath.Join(dir, lockName))
		_ = os.Remove(dir) // it may have other files
	}
	return err
}

// vacant refuses a folder with files, except the files of a creation that did not complete.
func vacant(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); name == layout.ManifestName || !own().MatchString(name) && name != lockName {
			return fmt.Errorf("%s: %w: it has files; a collection needs a folder of its own", dir, fs.ErrExist)
		}
	}
	return nil
}

// createIn writes the first segment, which is empty, and the manifest.
func createIn(ctx context.Context, d container.Disk, dir string, opt build.Options, columns []attributes.Column) (err error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	w := &Writer{dir: dir, disk: d, opt: Options{Creator: opt.Creator}, next: 1}
	number := w.number()
	w.now = &Manifest{Name: filepath.Base(at), Kind: Kind}
	opt.Format, opt.Stdin, opt.Attributes = build.Text, strings.NewReader(""), names(columns)
	if opt.Store == hdl.StoreSource {
		opt.Format = build.JSONL
	}
	if w.now.Settings, err = w.build(ctx, number, []string{"-"}, opt, new(build.Summary)); err != nil {
		return err
	}
	if w.now.Settings.Attributes = columns; columns != nil {
		done, err := w.addAttributes(ctx, number, []string{"-"}, &build.Options{Stdin: strings.NewReader("")}, nil)
		defer done()
		if err != nil {
			return err
		}
	}
	s, err := w.seal(number)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before = map[string]bool{}
	return w.change([]*segment{s}, nil)
}

// names returns the names of columns.
func names(columns []attributes.Column) (all []string) {
	for _, c := range columns {
		all = append(all, c.Name)
	}
	return all
}

// build builds the index file with a number, and returns its settings.
func (w *Writer) build(ctx context.Context, number uint64, inputs []string, opt build.Options, sum *build.Summary) (set Settings, err error) {
	opt.Creator, opt.TempDir = w.opt.Creator, w.dir
	opt.Create = func(out string, m hdl.Meta, _ func(func(uint32) error) error) (build.Output, error) {
		for _, f := range []build.Format{build.PISA, build.CIFF} {
			if strings.Contains(m.Format, string(f)) {
				return nil, fmt.Errorf("format %s has inverted lists: a collection takes documents (text, jsonl, trec)", f)
			}
		}
		set = settingsOf(&m)
		return hdl.CreateOn(w.disk, out, m)
	}
	*sum, err = build.Build(ctx, filepath.Join(w.dir, fmt.Sprintf("%08d.hdl", number)), inputs, opt)
	return set, err
}
