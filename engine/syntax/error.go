// Package syntax describes errors in query texts and predicates.
package syntax

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error is an error in a text, with its place: wrong syntax, an unknown name, an
// unsuitable value. Its message has three lines: the reason with the column, the part of
// the text around it, and a caret below the column.
type Error struct {
	Text   string
	Offset int // in Text, in bytes
	Reason string
}

// Column counts characters from 1.
func (e *Error) Column() int { return utf8.RuneCountInString(e.Text[:e.Offset]) + 1 }

func (e *Error) Error() string {
	const around = 40 // characters on both sides of the caret
	before, after := []rune(e.Text[:e.Offset]), []rune(e.Text[e.Offset:])
	head, tail := "", ""
	if len(before) > around {
		head, before = "...", before[len(before)-around:]
	}
	if len(after) > around {
		after, tail = after[:around], "..."
	}
	line := []rune(head + string(before) + string(after) + tail)
	for i, r := range line {
		if !unicode.IsPrint(r) {
			line[i] = ' '
		}
	}
	return fmt.Sprintf("column %d: %s\n  %s\n  %*s", e.Column(), e.Reason, string(line), len(head)+len(before)+1, "^")
}

// ReasonOf returns the reason in the text of an Error; empty if the text is of another error.
func ReasonOf(text string) string {
	_, rest, ok := strings.Cut(text, "column ")
	_, rest, of := strings.Cut(rest, ": ")
	reason, _, line := strings.Cut(rest, "\n  ")
	if !ok || !of || !line {
		return ""
	}
	return reason
}
