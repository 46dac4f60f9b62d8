package terminal

import (
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Field returns s as one field of a line, safe for terminals. Control characters, line ends,
// characters that change the direction of writing and bytes that are not UTF-8 become
// escapes as in Go: \t, \n, \x1b, \u202e, \xff. A backslash stays as it is.
func Field(s string) string { return escape(s, "") }

// Text is Field for text of several lines: TAB and LF stay.
func Text(s string) string { return escape(s, "\t\n") }

// Writer returns a writer that passes Text of each write to w. A write must not end inside a
// character.
func Writer(w io.Writer) io.Writer { return writer{w} }

type writer struct{ w io.Writer }

func (w writer) Write(b []byte) (int, error) {
	if _, err := io.WriteString(w.w, Text(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// escape escapes all unsafe characters of s except the kept characters.
func escape(s, kept string) string {
	clean := 0 // bytes of s that are in b
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if unsafe(r, size) && !strings.ContainsRune(kept, r) {
			b.WriteString(s[clean:i])
			quoted := strconv.QuoteToASCII(s[i : i+size])
			b.WriteString(quoted[1 : len(quoted)-1])
			clean = i + size
		}
		i += size
	}
	if clean == 0 {
		return s
	}
	b.WriteString(s[clean:])
	return b.String()
}

func unsafe(r rune, size int) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case r == utf8.RuneError:
		return size == 1
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}
