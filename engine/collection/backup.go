package collection

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"heddle/engine/file/container"
	"heddle/engine/file/shared"
	"heddle/engine/internal/layout"
)

// CopyOptions rule Backup and Restore.
type CopyOptions struct {
	// Copy copies the bytes of all files. Default: false, files on the same file system become hard links: they take no
	// room, because a file of a collection never changes, but a fault of the disk damages both.
	Copy bool
}

// Copied describes a backup, or a collection that was restored from one.
type Copied struct {
	Epoch     uint64 // the state
	Documents uint64
	Files     int    // of the state, the manifest included
	Written   int    // files that were not there before
	Linked    int    // of Written: hard links
	Bytes     uint64 // of Written
}

// Backup copies the newest state of a collection to another folder, which is new, empty, or an earlier backup of the
// collection, and not below it: it then writes only the files that the backup lacks, and removes the files that it no longer needs. It
// compares the checksum of each file that it writes. Writers can go on meanwhile. The backup is a collection itself; a
// change makes it one that is no backup, and that Backup refuses to replace. After an error or a crash it has its former
// state or the new one.
func Backup(ctx context.Context, dir, to string, opt CopyOptions) (Copied, error) {
	return copyOn(ctx, container.OSDisk{}, dir, to, opt, true)
}

// Restore makes the collection of a backup in a new or empty folder. It compares the checksums of all files.
func Restore(ctx context.Context, backup, dir string, opt CopyOptions) (Copied, error) {
	return restoreOn(ctx, container.OSDisk{}, backup, dir, opt)
}

func restoreOn(ctx context.Context, d container.Disk, backup, dir string, opt CopyOptions) (Copied, error) {
	return copyOn(ctx, d, backup, dir, opt, false)
}

// target returns the state of a folder that gets the state m, nil for none, or an error if it must not get it.
func (m *Manifest) target(to string, backup bool) (old *Manifest, err error) {
	if !Is(to) {
		return nil, vacant(to)
	}
	switch old, err = Read(to); {
	case err != nil:
		return nil, err
	case !backup:
		return nil, fmt.Errorf("%s: %w: it is a collection; restore to another folder", to, fs.ErrExist)
	case !old.Backup:
		return nil, fmt.Errorf("%s: %w: it is a collection, not a backup; choose another folder", to, fs.ErrExist)
	case old.Name != m.Name:
		return nil, fmt.Errorf("%s: %w: it has a backup of collection %s, not of %s", to, fs.ErrExist, old.Name, m.Name)
	}
	return old, nil
}

// apart returns an error if a folder, which may be absent, is below the collection in dir. Symbolic links do not count.
func apart(dir, to string) error {
	dir, err := real(dir)
	if err != nil {
		return err
	}
	at, err := real(to)
	if errors.Is(err, fs.ErrNotExist) {
		if at, err = real(filepath.Dir(filepath.Clean(to))); err == nil {
			at = filepath.Join(at, filepath.Base(to))
		}
	}
	if err != nil {
		return err
	}
	if below, err := filepath.Rel(dir, at); err == nil && below != "." && filepath.IsLocal(below) {
		return fmt.Errorf("%s: %w: it is in the folder of the collection; choose a folder outside", to, fs.ErrInvalid)
	}
	return nil
}

// real is the absolute path of a folder without symbolic links.
func real(dir string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}

// copyOn copies the newest state of a collection to a backup or from one.
func copyOn(ctx context.Context, d container.Disk, dir, to string, opt CopyOptions, backup bool) (out Copied, err error) {
	now, err := Read(dir)
	if err != nil {
		return out, err
	}
	if err := apart(dir, to); err != nil {
		return out, err
	}
	made := d.Mkdir(to)
	if made != nil && !errors.Is(made, fs.ErrExist) {
		return out, made
	}
	if _, err := now.target(to, backup); err != nil { // before the lock: a folder of other files gets no file
		return out, err
	}
	lock, err := take(to)
	if err != nil {
		return out, err
	}
	c := &copying{ctx: ctx, disk: d, from: dir, to: to, opt: opt, has: map[layout.File]bool{}}
	defer func() {
		if err = errors.Join(err, lock.Close()); made == nil && err != nil {
			err = errors.Join(err, d.RemoveAll(to))
		}
	}()
	if now, err = Read(dir); err != nil { // another backup may have ended before the lock
		return out, err
	}
	old, err := now.target(to, backup)
	if err != nil {
		return out, err
	}
	named := map[string]layout.File{}
	if old != nil {
		for _, f := range old.described() {
			c.has[f], named[f.File] = true, f
		}
	}
	for {
		for _, f := range now.described() {
			if had, ok := named[f.File]; ok && had != f {
				return out, fmt.Errorf("%s: %w: its file %s belongs to another collection, or to a later state of this one; choose another folder", to, fs.ErrExist, f.File)
			}
		}
		err := c.files(now)
		if err == nil {
			break
		}
		again, wrong := Read(dir) // a change may have removed a file meanwhile
		if !errors.Is(err, fs.ErrNotExist) || wrong != nil || again.Epoch == now.Epoch {
			return out, err
		}
		now = again
	}
	now.Backup = backup
	if err := errors.Join(d.SyncDir(to), now.write(d, to)); err != nil {
		return out, err
	}
	if made == nil {
		err = d.SyncDir(filepath.Dir(to))
	}
	w := &Writer{dir: to, disk: d, now: now, before: now.files()}
	out = c.done
	out.Epoch, out.Documents, out.Files = now.Epoch, now.Live(), len(now.described())+1
	return out, errors.Join(err, w.clean())
}

// described returns all files but the manifest.
func (m *Manifest) described() (all []layout.File) {
	for _, s := range m.Segments {
		all = append(append(all, s.Shard.Files()...), s.Keys)
		if s.Deleted != nil {
			all = append(all, s.Deleted.File)
		}
	}
	return all
}

// copying is a copy of a collection.
type copying struct {
	ctx      context.Context
	disk     container.Disk
	from, to string
	opt      CopyOptions
	has      map[layout.File]bool // files that the target has
	done     Copied
}

// files copies the files of a state that the target lacks.
func (c *copying) files(m *Manifest) error {
	for _, f := range m.described() {
		if info, err := os.Stat(filepath.Join(c.to, f.File)); c.has[f] && err == nil && uint64(info.Size()) == f.Bytes {
			continue
		}
		linked, err := c.file(f)
		if err != nil {
			return err
		}
		c.has[f] = true
		c.done.Written++
		c.done.Bytes += f.Bytes
		if linked {
			c.done.Linked++
		}
	}
	return nil
}

// file links or copies a file.
func (c *copying) file(f layout.File) (linked bool, err error) {
	path := filepath.Join(c.to, f.File)
	dir, err := c.disk.MkdirTemp(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, c.disk.RemoveAll(dir)) }()
	from, temp := filepath.Join(c.from, f.File), filepath.Join(dir, f.File)
	in, err := shared.Open(from)
	if err != nil {
		return false, err
	}
	defer in.Close()
	out, finish := io.Discard, func() error { return nil }
	linked = !c.opt.Copy && os.Link(from, temp) == nil
	if !linked {
		file, err := c.disk.Create(temp)
		if err != nil {
			return false, err
		}
		defer file.Close()
		out = file
		finish = func() error { return errors.Join(file.Sync(), file.Close()) } // Windows renames no open file
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(sum, out), &ended{c.ctx, in})
	if err != nil {
		return false, err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); uint64(n) != f.Bytes || got != f.SHA256 {
		return false, fmt.Errorf("%s: %w: %d bytes with checksum %s, the manifest says %d with %s", from, container.ErrCorrupt, n, got, f.Bytes, f.SHA256)
	}
	if err := finish(); err != nil {
		return false, err
	}
	return linked, c.disk.Rename(temp, path)
}

// ended is a reader that ends with a context.
type ended struct {
	ctx context.Context
	io.Reader
}

func (e *ended) Read(p []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.Reader.Read(p)
}
