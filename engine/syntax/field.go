package syntax

import "unicode"

// FieldName returns the length of the name of a field of documents that begins a text, in bytes; 0 if there is none. It
// begins with a letter or _, and has letters, marks, digits, _, . and - alone.
func FieldName(text string) int {
	for i, c := range text {
		if !unicode.IsLetter(c) && c != '_' && (i == 0 || !unicode.IsNumber(c) && !unicode.IsMark(c) && c != '.' && c != '-') {
			return i
		}
	}
	return len(text)
}
