package hdl

import (
	"encoding/binary"
	"hash/crc32"
)

// spoolBuffer is the memory of a spool, in bytes.
const spoolBuffer = 256 << 10

// spool is a temporary file that grows at its end. It counts and checksums what
// is written to it. After an error it must not be written to.
type spool struct {
	file   diskFile
	buf    []byte // not yet written
	length uint64 // bytes, with those in buf
	crc    uint32 // without those in buf
}

func newSpool(d disk, path string) (*spool, error) {
	f, err := d.create(path)
	if err != nil {
		return nil, err
	}
	return &spool{file: f, buf: make([]byte, 0, spoolBuffer)}, nil
}

// room flushes the buffer unless n more bytes fit.
func (s *spool) room(n int) error {
	if n <= cap(s.buf)-len(s.buf) {
		return nil
	}
	return s.flush()
}

func (s *spool) write(p []byte) error {
	if err := s.room(len(p)); err != nil {
		return err
	}
	s.length += uint64(len(p))
	if len(p) >= cap(s.buf) {
		return s.put(p)
	}
	s.buf = append(s.buf, p...)
	return nil
}

// writeString writes at most spoolBuffer bytes.
func (s *spool) writeString(p string) error {
	if err := s.room(len(p)); err != nil {
		return err
	}
	s.length += uint64(len(p))
	s.buf = append(s.buf, p...)
	return nil
}

// writeUint64 writes a word in the byte order of files.
func (s *spool) writeUint64(v uint64) error {
	if err := s.room(8); err != nil {
		return err
	}
	s.length += 8
	s.buf = binary.LittleEndian.AppendUint64(s.buf, v)
	return nil
}

// pad writes zeros up to a multiple of align bytes, at most PageSize.
func (s *spool) pad(align uint64) error {
	return s.write(zeros[:alignUp(s.length, align)-s.length])
}

var zeros [PageSize]byte

func (s *spool) flush() error {
	p := s.buf
	s.buf = s.buf[:0]
	return s.put(p)
}

// put hands p to the file.
func (s *spool) put(p []byte) error {
	s.crc = crc32.Update(s.crc, castagnoli, p)
	_, err := s.file.Write(p)
	return err
}
