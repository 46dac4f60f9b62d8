package container

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// spoolBuffer is the largest memory of a spool, in bytes.
const spoolBuffer = 256 << 10

// Spool is a temporary file that grows at its end. It counts and checksums its content. The file is
// created when the memory of the spool is full: creation and removal cost more than a small section.
// After an error it must not be written to.
type Spool struct {
	disk   Disk
	path   string
	file   DiskFile // nil before it is created
	start  int64    // offset in file of the first counted byte
	buf    []byte   // not yet written
	length uint64   // bytes, including buf
	crc    uint32   // excluding buf
	blocks blockSums
}

// Length is the number of bytes so far.
func (s *Spool) Length() uint64 { return s.length }

// room flushes the buffer unless n more bytes fit.
func (s *Spool) room(n int) error {
	if n <= spoolBuffer-len(s.buf) {
		return nil
	}
	return s.flush()
}

// Append writes bytes, which stay the caller's.
func (s *Spool) Append(p []byte) error {
	if err := s.room(len(p)); err != nil {
		return err
	}
	s.length += uint64(len(p))
	if len(p) >= spoolBuffer {
		return s.put(p)
	}
	s.buf = append(s.buf, p...)
	return nil
}

// AppendUint64 writes a word in the byte order of files.
func (s *Spool) AppendUint64(v uint64) error {
	if err := s.room(8); err != nil {
		return err
	}
	s.length += 8
	s.buf = binary.LittleEndian.AppendUint64(s.buf, v)
	return nil
}

// AppendSpool writes all that was written to another spool, which ends there: nothing
// more may be written to it before it is Rewound.
func (s *Spool) AppendSpool(from *Spool) error {
	if from.file == nil {
		return s.Append(from.buf)
	}
	r, err := from.Reader()
	if err != nil {
		return err
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.buf = slices.Grow(s.buf, spoolBuffer)
	n, err := io.CopyBuffer(spoolWriter{s}, r, s.buf[:spoolBuffer])
	s.length += uint64(n)
	if err != nil || uint64(n) != from.length {
		return errors.Join(err, fmt.Errorf("%d of %d bytes of a temporary file copied", n, from.length))
	}
	return nil
}

// spoolWriter hands bytes to the file of a spool, past its buffer.
type spoolWriter struct{ *Spool }

func (w spoolWriter) Write(p []byte) (int, error) {
	if err := w.put(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Pad writes zeros up to a multiple of align bytes, at most PageSize.
func (s *Spool) Pad(align uint64) error {
	return s.Append(zeros[:AlignUp(s.length, align)-s.length])
}

var zeros [PageSize]byte

// Reader reads the content from the start. Nothing more may be written before Rewind.
func (s *Spool) Reader() (io.Reader, error) {
	if s.file == nil {
		return bytes.NewReader(s.buf), nil
	}
	if err := s.flush(); err != nil {
		return nil, err
	}
	if _, err := s.file.Seek(s.start, io.SeekStart); err != nil {
		return nil, err
	}
	return io.LimitReader(s.file, int64(s.length)), nil
}

// Rewind drops the content and reuses its room on the disk.
func (s *Spool) Rewind() error {
	s.buf, s.length, s.crc, s.blocks = s.buf[:0], 0, 0, blockSums{sums: s.blocks.sums[:0]}
	if s.file == nil {
		return nil
	}
	_, err := s.file.Seek(s.start, io.SeekStart)
	return err
}

func (s *Spool) flush() error {
	p := s.buf
	s.buf = s.buf[:0]
	return s.put(p)
}

// create creates the file, once.
func (s *Spool) create() (err error) {
	if s.file != nil {
		return nil
	}
	if s.file, err = s.disk.Create(s.path); err != nil {
		s.file = nil
		return err
	}
	_, err = s.file.Seek(s.start, io.SeekStart)
	return err
}

// put hands p to the file.
func (s *Spool) put(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	if err := s.create(); err != nil {
		return err
	}
	s.sum(p)
	_, err := s.file.Write(p)
	return err
}

// sum adds bytes to the checksums.
func (s *Spool) sum(p []byte) {
	s.crc = crc32.Update(s.crc, castagnoli, p)
	s.blocks.add(p)
}

// settle completes the checksums. Nothing may be appended afterwards.
func (s *Spool) settle() error {
	if s.file == nil {
		s.sum(s.buf)
		return nil
	}
	return s.flush()
}

// close closes the file, once.
func (s *Spool) close() error {
	f := s.file
	if s.file = nil; f == nil {
		return nil
	}
	return f.Close()
}
