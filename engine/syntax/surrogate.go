package syntax

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// LoneSurrogate describes the first escape of JSON, such as \ud800, that is half of a
// surrogate pair without the other half. It returns the empty string if text has none.
// encoding/json makes U+FFFD of it. unit names the text.
func LoneSurrogate(unit string, text []byte) string {
	for at := 0; ; {
		i := bytes.IndexByte(text[at:], '\\')
		if i < 0 {
			return ""
		}
		at += i
		c, ok := escaped(text[at:])
		switch {
		case !ok: // the backslash and the character behind it
			at += min(2, len(text)-at)
			continue
		case utf16.IsSurrogate(c):
			if low, ok := escaped(text[at+escapeSize:]); !ok || utf16.DecodeRune(c, low) == utf8.RuneError {
				return fmt.Sprintf("invalid JSON text: byte %d of the %s is %s, half of a surrogate pair", at, unit, text[at:at+escapeSize])
			}
			at += escapeSize
		}
		at += escapeSize
	}
}

const escapeSize = len(`\ud800`)

// escaped reads an escape with four hexadecimal digits at the start of text.
func escaped(text []byte) (c rune, ok bool) {
	if len(text) < escapeSize || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:escapeSize]), 16, 16)
	return rune(n), err == nil
}
