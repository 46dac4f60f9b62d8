package build

import (
	"bufio"
	"io"

	"heddle/engine/file/scratch"
)

// temp is a temporary file that is written through w, from start to end, and
// then read.
type temp struct {
	*scratch.File
	w    *bufio.Writer
	size int64 // bytes written
}

const tempBuffer = 256 << 10 // bytes

func newTemp(dir, pattern string) (*temp, error) {
	f, err := scratch.New(dir, pattern)
	if err != nil {
		return nil, err
	}
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
