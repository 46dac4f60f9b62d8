package syntax

import (
	"strconv"
	"unicode/utf8"
)

// mostQuoted is the number of bytes of an input that an error quotes.
const mostQuoted = 100

// Short returns the first 100 bytes of a text of an input, for an error: the beginning names it, and a text
// of many megabytes stays out of messages, logs and replies. An ellipsis stands for the rest.
func Short(text string) string {
	if len(text) <= mostQuoted {
		return text
	}
	return text[:boundary(text)] + "…"
}

// Quote returns Short in double quotes, with escapes as in Go.
func Quote(text string) string {
	if len(text) <= mostQuoted {
		return strconv.Quote(text)
	}
	return strconv.Quote(text[:boundary(text)]) + "…"
}

// boundary returns the greatest place up to mostQuoted that cuts no character.
func boundary(text string) int {
	n := mostQuoted
	for n > mostQuoted-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}
