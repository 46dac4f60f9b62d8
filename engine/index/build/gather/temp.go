package gather

import (
	"bufio"
	"io"

	"heddle/engine/file/scratch"
)

// Temp is a temporary file that is written from start to end, and then read.
type Temp struct {
	*scratch.File
	buf  []byte // not yet in the file
	size int64  // bytes written, including buf
}

const tempBuffer = 256 << 10 // bytes

func NewTemp(dir, pattern string) (*Temp, error) {
	f, err := scratch.New(dir, pattern)
	if err != nil {
		return nil, err
	}
	return &Temp{File: f}, nil
}

func (t *Temp) Append(b []byte) error {
	t.size += int64(len(b))
	if len(t.buf)+len(b) > tempBuffer {
		if err := t.Flush(); err != nil {
			return err
		}
	}
	if len(b) > tempBuffer {
		_, err := t.File.Write(b)
		return err
	}
	t.buf = append(t.buf, b...)
	return nil
}

func (t *Temp) Flush() error {
	_, err := t.File.Write(t.buf)
	t.buf = t.buf[:0]
	return err
}

// Rewind ends the writing and reads from the start.
func (t *Temp) Rewind() (*bufio.Reader, error) {
	if err := t.Flush(); err != nil {
		return nil, err
	}
	_, err := t.Seek(0, io.SeekStart)
	return bufio.NewReaderSize(t, int(min(t.size, tempBuffer))), err
}
