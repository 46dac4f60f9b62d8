package ingest

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
)

// temp is a temporary file that is written through w, from start to end, and
// then read. Where the system allows it, it loses its name at once, so that not
// even a killed process leaves it behind.
type temp struct {
	*os.File
	w    *bufio.Writer
	size int64 // bytes written
}

const tempBuffer = 256 << 10 // bytes

func newTemp(dir, pattern string) (*temp, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // Windows refuses while it is open; close tries again
	return &temp{File: f, w: bufio.NewWriterSize(f, tempBuffer)}, nil
}

func (t *temp) write(b []byte) error {
	t.size += int64(len(b))
	_, err := t.w.Write(b)
	return err
}

// rewind ends the writing and reads from the start.
func (t *temp) rewind() (*bufio.Reader, error) {
	if err := t.w.Flush(); err != nil {
		return nil, err
	}
	_, err := t.Seek(0, io.SeekStart)
	return bufio.NewReaderSize(t, tempBuffer), err
}

// close closes and removes the file.
func (t *temp) close() error {
	err := t.Close()
	if gone := os.Remove(t.Name()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}
