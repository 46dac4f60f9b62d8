package hdl

import (
	"bufio"
	"hash/crc32"
	"io"
)

// spoolBuffer is the memory of a spool, in bytes.
const spoolBuffer = 256 << 10

// spool is a temporary file that grows at its end. It counts and checksums what
// is written to it.
type spool struct {
	file   diskFile
	w      *bufio.Writer
	length uint64
	crc    uint32
}

func newSpool(d disk, path string) (*spool, error) {
	f, err := d.create(path)
	if err != nil {
		return nil, err
	}
	return &spool{file: f, w: bufio.NewWriterSize(f, spoolBuffer)}, nil
}

func (s *spool) write(p []byte) error {
	s.crc = crc32.Update(s.crc, castagnoli, p)
	s.length += uint64(len(p))
	_, err := s.w.Write(p)
	return err
}

// pad writes zeros up to a multiple of align bytes, at most PageSize.
func (s *spool) pad(align uint64) error {
	var zeros [PageSize]byte
	return s.write(zeros[:alignUp(s.length, align)-s.length])
}

// rewind flushes the spool and goes back to its start, to read it.
func (s *spool) rewind() error {
	if err := s.w.Flush(); err != nil {
		return err
	}
	_, err := s.file.Seek(0, io.SeekStart)
	return err
}

// writeWords writes words in the byte order of files.
func writeWords[T word](s *spool, words ...T) error { return s.write(littleBytes(words)) }
