// Package fetch copies files between the machines of a cluster. A file is known by its SHA-256,
// so that any source serves: a node, a web server or a folder.
package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"heddle/engine/file/container"
	"heddle/engine/file/shared"
)

// File is a file that a source has.
type File struct {
	// Name is the name beside the manifest. Folders and plain web servers know the file by it.
	Name   string
	SHA256 string
	Bytes  uint64
}

// Client fetches files. The zero value is ready.
type Client struct {
	// HTTP sends requests; nil is http.DefaultClient.
	HTTP *http.Client
	// Idle is the time after which a source that sends nothing is given up; 0 is 30 seconds.
	Idle time.Duration
	// disk opens the part of a file; nil is the operating system. Tests set it.
	disk func(path string) (part, error)
}

// part is the incomplete file on disk.
type part interface {
	io.ReadWriteSeeker
	io.Closer
	Sync() error
	Truncate(int64) error
}

// suffix is the end of the name of an incomplete file.
const suffix = ".part"

// Fetch writes the file to path, from the first source that delivers it. A source is the URL of
// a folder, or a folder of this machine. Path appears only when the file is complete, has its
// checksum and is durable. After an interruption the bytes so far stay beside path; the next
// call continues behind them. One call at a time may fetch to a path.
func (c *Client) Fetch(ctx context.Context, file File, path string, sources ...string) error {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && uint64(info.Size()) == file.Bytes {
		return nil
	}
	if len(sources) == 0 {
		return fmt.Errorf("%s: no source has the file %s", path, file.SHA256)
	}
	var failed []error
	for _, source := range sources {
		err := c.from(ctx, file, path, source)
		if err == nil {
			return nil
		}
		if _, full := errors.AsType[*DiskFullError](err); full || ctx.Err() != nil {
			return err
		}
		failed = append(failed, fmt.Errorf("%s from %s: %w", file.Name, source, err))
	}
	return errors.Join(failed...)
}

// from fetches from one source. Bytes of an earlier source may be wrong: a file with a wrong
// checksum that began with them is fetched once more, whole.
func (c *Client) from(ctx context.Context, file File, path, source string) error {
	resumed, err := c.once(ctx, file, path, source)
	if _, wrong := errors.AsType[*ChecksumError](err); wrong && resumed {
		_, err = c.once(ctx, file, path, source)
	}
	return err
}

func (c *Client) once(ctx context.Context, file File, path, source string) (resumed bool, err error) {
	open := c.disk
	if open == nil {
		open = openPart
	}
	to, err := open(path + suffix)
	if err != nil {
		return false, full(err, path, file.Bytes)
	}
	sum, useless := sha256.New(), false
	defer func() {
		if to != nil {
			err = errors.Join(err, to.Close())
		}
		if useless {
			err = errors.Join(err, os.Remove(path+suffix))
		}
	}()
	kept, err := keep(to, sum, file.Bytes)
	if err != nil {
		return false, err
	}
	if kept < file.Bytes {
		if err := c.rest(ctx, file, source, kept, to, sum); err != nil {
			return kept > 0, full(err, path, file.Bytes)
		}
	}
	if found := hex.EncodeToString(sum.Sum(nil)); found != file.SHA256 {
		useless = true
		return kept > 0, &ChecksumError{File: file.Name, Want: file.SHA256, Found: found}
	}
	if err := to.Sync(); err != nil { // the disk may have lost bytes that a later Sync does not write again
		useless = true
		return kept > 0, full(err, path, file.Bytes)
	}
	err, to = to.Close(), nil
	if err == nil {
		err = shared.Replace(path+suffix, path)
	}
	return kept > 0, errors.Join(err, container.OSDisk{}.SyncDir(filepath.Dir(path)))
}

func openPart(path string) (part, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644) }

// keep adds the bytes of an earlier call to the checksum and leaves the file at their end. A file
// that is too long is emptied.
func keep(to part, sum hash.Hash, most uint64) (uint64, error) {
	kept, err := io.CopyBuffer(writer{sum}, io.LimitReader(to, int64(most)+1), make([]byte, block))
	if err != nil {
		return 0, err
	}
	if uint64(kept) <= most {
		return uint64(kept), nil
	}
	sum.Reset()
	if err := to.Truncate(0); err != nil {
		return 0, err
	}
	_, err = to.Seek(0, io.SeekStart)
	return 0, err
}

// writer hides the other methods of a Writer, so that a copy uses its own buffer.
type writer struct{ io.Writer }

// rest writes the bytes from position kept to the part and adds them to the checksum.
func (c *Client) rest(ctx context.Context, file File, source string, kept uint64, to part, sum hash.Hash) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := c.Idle
	if idle <= 0 {
		idle = 30 * time.Second
	}
	timer := time.AfterFunc(idle, func() { cancel(fmt.Errorf("the source sent nothing for %v", idle)) })
	defer timer.Stop()
	body, skipped, err := c.open(ctx, file, source, kept)
	if err != nil {
		return cause(ctx, err)
	}
	defer body.Close()
	if !skipped {
		if _, err := io.CopyN(io.Discard, progress{body, timer, idle}, int64(kept)); err != nil {
			return cause(ctx, err)
		}
	}
	n, err := copyHash(to, progress{body, timer, idle}, int64(file.Bytes-kept), sum)
	if err == nil && uint64(n) < file.Bytes-kept {
		err = fmt.Errorf("the source ended at byte %d of %d", kept+uint64(n), file.Bytes)
	}
	return cause(ctx, err)
}

// cause returns the reason for which the context ended in place of an error that follows from it.
func cause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// progress restarts a timer at every byte.
type progress struct {
	io.Reader
	timer *time.Timer
	idle  time.Duration
}

func (p progress) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if n > 0 {
		p.timer.Reset(p.idle)
	}
	return n, err
}
