package syntax

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// JSON words an error of encoding/json about text for a reader of the input: it names
// the byte, from 1, or the member, the value and the expected type, and no type of Go. It
// returns any other error unchanged. Without the text, which may be nil, it does not name the
// wrong character.
func JSON(text []byte, err error) error {
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrong):
		return typeError(wrong)
	case errors.As(err, &syntax):
		return syntaxError(text, syntax)
	case err == io.EOF || err == io.ErrUnexpectedEOF: // errors of a json.Decoder
		return errCut
	case err != nil:
		if name, found := strings.CutPrefix(err.Error(), "json: unknown field "); found {
			name, _ = strconv.Unquote(name)
			return fmt.Errorf("unknown member %s", Quote(name))
		}
	}
	return err
}

// JSONLine is JSON for a line of JSON lines.
func JSONLine(text []byte, err error) error {
	if err = JSON(text, err); err == errCut {
		err = fmt.Errorf("%w: a line has one whole object", err)
	}
	return err
}

var errCut = errors.New("the JSON value is cut off")

// contexts word the ends of the messages of json.SyntaxError.
var contexts = []struct{ suffix, words string }{
	{"looking for beginning of value", "a value is expected"},
	{"looking for beginning of object key string", "a member in double quotes is expected"},
	{"after object key", "a colon is expected"},
	{"after object key:value pair", "a comma or } is expected"},
	{"after array element", "a comma or ] is expected"},
	{"after top-level value", "one JSON value is expected"},
	{"in string literal", "a string has it as an escape such as \\n"},
	{"in string escape code", "no escape of a string has it"},
	{`in \u hexadecimal character escape`, `\u and four hexadecimal digits are expected`},
	{"numeric literal", "a digit is expected"},
	{"exceeded max depth", "values are nested at most 10000 deep"},
}

func syntaxError(text []byte, e *json.SyntaxError) error {
	if strings.HasPrefix(e.Error(), "unexpected end") {
		return errCut
	}
	want := "true, false, null, a number or a string is expected"
	for _, c := range contexts {
		if strings.HasSuffix(e.Error(), c.suffix) {
			want = c.words
		}
	}
	found := ""
	if at := e.Offset - 1; at >= 0 && at < int64(len(text)) {
		r, size := utf8.DecodeRune(text[at:])
		found = fmt.Sprintf(" is %q", r)
		if r == utf8.RuneError && size == 1 {
			found = fmt.Sprintf(" is 0x%02x", text[at])
		}
	}
	return fmt.Errorf("incorrect JSON: byte %d%s: %s", e.Offset, found, want)
}

func typeError(wrong *json.UnmarshalTypeError) error {
	want := "an object"
	switch wrong.Type.Kind() {
	case reflect.String:
		want = "a string"
	case reflect.Bool:
		want = "true or false"
	case reflect.Slice, reflect.Array:
		want = "an array"
	case reflect.Float32, reflect.Float64:
		want = "a number in the range of float64"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		want = "a whole number"
	}
	if wrong.Field != "" {
		return fmt.Errorf("member %s is %s, want %s", Short(wrong.Field), article(Short(wrong.Value)), want)
	}
	return fmt.Errorf("%s, want %s", article(Short(wrong.Value)), want)
}

// article puts an article before the name of a kind of JSON value.
func article(value string) string {
	switch value {
	case "array", "object":
		return "an " + value
	case "bool":
		return "true or false"
	case "string", "number":
		return "a " + value
	}
	return value // "number 1e999"
}
