package input

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Reader converts UTF-16 to UTF-8. Half of a surrogate pair becomes the three bytes that
// its code would have in UTF-8, and half of a code unit at the end becomes 0xff: neither is
// valid UTF-8, so that readers find and count them.
type utf16Reader struct {
	r       *bufio.Reader
	order   binary.ByteOrder
	pending []byte // converted, not yet read
	scratch [2 * utf8.UTFMax]byte
}

// newUTF16 returns a reader of a text, behind its byte order mark if it has one. Without the mark, zero bytes
// tell the order of bytes, because most texts have characters below U+0100.
func newUTF16(r *bufio.Reader) *utf16Reader {
	u := &utf16Reader{r: r, order: binary.LittleEndian}
	mark, _ := r.Peek(2)
	if isUTF16(mark) {
		_, _ = r.Discard(2) // cannot fail on buffered bytes
		if mark[0] == 0xfe {
			u.order = binary.BigEndian
		}
		return u
	}
	zeros := [2]int{}
	head, _ := r.Peek(headSize)
	for i, c := range head {
		if c == 0 {
			zeros[i%2]++
		}
	}
	if zeros[0] > zeros[1] {
		u.order = binary.BigEndian
	}
	return u
}

func (u *utf16Reader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(u.pending) == 0 {
			if n > 0 && u.r.Buffered() < 4 {
				break // the rest may block
			}
			if err = u.next(); err != nil {
				break
			}
		}
		copied := copy(p[n:], u.pending)
		n, u.pending = n+copied, u.pending[copied:]
	}
	if n > 0 && err == io.EOF {
		err = nil // comes again
	}
	return n, err
}

// next converts a character.
func (u *utf16Reader) next() error {
	b, err := u.r.Peek(2)
	switch {
	case len(b) == 1 && errors.Is(err, io.EOF):
		u.pending = append(u.scratch[:0], 0xff)
		_, err = u.r.Discard(1)
		return err
	case len(b) < 2:
		return err
	}
	c := rune(u.order.Uint16(b))
	size := 2
	if utf16.IsSurrogate(c) {
		if b, err = u.r.Peek(4); len(b) < 4 && err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if low := b[2:]; len(low) == 2 {
			if pair := utf16.DecodeRune(c, rune(u.order.Uint16(low))); pair != utf8.RuneError {
				c, size = pair, 4
			}
		}
	}
	if size == 2 && utf16.IsSurrogate(c) {
		u.pending = append(u.scratch[:0], 0xe0|byte(c>>12), 0x80|byte(c>>6)&0x3f, 0x80|byte(c)&0x3f)
	} else {
		u.pending = utf8.AppendRune(u.scratch[:0], c)
	}
	_, err = u.r.Discard(size)
	return err
}

// surrogate returns the half of a surrogate pair that b begins with, in the bytes that its
// code would have in UTF-8.
func surrogate(b []byte) (half rune, ok bool) {
	if len(b) < 3 || b[0] != 0xed || b[1]&0xe0 != 0xa0 || b[2]&0xc0 != 0x80 {
		return 0, false
	}
	return 0xd000 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f), true
}
