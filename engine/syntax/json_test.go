package syntax

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

type jsonTarget struct {
	Name  string   `json:"name"`
	Count uint32   `json:"count"`
	Share float64  `json:"share"`
	Yes   bool     `json:"yes"`
	List  []string `json:"list"`
}

func decode(text string) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(new(jsonTarget))
}

// TestJSON words each kind of error of encoding/json.
func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"name": x}`:          "incorrect JSON: byte 10 is 'x': a value is expected",
		`{name: 1}`:            "incorrect JSON: byte 2 is 'n': a member in double quotes is expected",
		`{"name" 1}`:           "incorrect JSON: byte 9 is '1': a colon is expected",
		`{"name": "a" "b": 1}`: "incorrect JSON: byte 14 is '\"': a comma or } is expected",
		`{"list": ["a" "b"]}`:  "incorrect JSON: byte 15 is '\"': a comma or ] is expected",
		"{\"name\": \"a\tb\"}": "incorrect JSON: byte 12 is '\\t': a string has it as an escape such as \\n",
		`{"name": "\x"}`:       "incorrect JSON: byte 12 is 'x': no escape of a string has it",
		`{"name": "\u12g4"}`:   "incorrect JSON: byte 15 is 'g': \\u and four hexadecimal digits are expected",
		`{"count": -x}`:        "incorrect JSON: byte 12 is 'x': a digit is expected",
		`{"share": 1.x}`:       "incorrect JSON: byte 13 is 'x': a digit is expected",
		`{"share": 1ex}`:       "incorrect JSON: byte 13 is 'x': a digit is expected",
		`{"yes": trze}`:        "incorrect JSON: byte 11 is 'z': true, false, null, a number or a string is expected",
		`{"name": é}`:          "incorrect JSON: byte 10 is 'é': a value is expected",
		"{\"name\": \xff}":     "incorrect JSON: byte 10 is 0xff: a value is expected",
		`{"name": "a`:          "the JSON value is cut off",
		``:                     "the JSON value is cut off",
		`{"name": 1}`:          "member name is a number, want a string",
		`{"count": -1}`:        "member count is number -1, want a whole number",
		`{"count": "a"}`:       "member count is a string, want a whole number",
		`{"share": 1e999}`:     "member share is number 1e999, want a number in the range of float64",
		`{"yes": []}`:          "member yes is an array, want true or false",
		`{"list": true}`:       "member list is true or false, want an array",
		`[]`:                   "an array, want an object",
		`{"nam": 1}`:           `unknown member "nam"`,
	} {
		err := decode(text)
		if got := JSON([]byte(text), err); err == nil || got.Error() != want {
			t.Errorf("%s: %v becomes\n%v, want\n%s", text, err, got, want)
		}
	}
	if err := json.Unmarshal([]byte("{} x"), new(jsonTarget)); JSON([]byte("{} x"), err).Error() != "incorrect JSON: byte 4 is 'x': one JSON value is expected" {
		t.Error(JSON([]byte("{} x"), err))
	}
	if got := JSON(nil, decode(`{"name": x}`)).Error(); got != "incorrect JSON: byte 10: a value is expected" {
		t.Errorf("without the text: %s", got)
	}
	deep := []byte(strings.Repeat("[", 10_001))
	if got := JSON(deep, json.Unmarshal(deep, new(any))).Error(); got != "incorrect JSON: byte 10001 is '[': values are nested at most 10000 deep" {
		t.Error(got)
	}
	if JSON(nil, nil) != nil || JSON(nil, io.ErrClosedPipe) != io.ErrClosedPipe {
		t.Error("other errors change")
	}
}

// FuzzJSON: no message of encoding/json comes through.
func FuzzJSON(f *testing.F) {
	f.Add(`{"name": "a", "list": [1, 2.5e-3, null, true], "x": {"\u00e9": "\n"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, err := range []error{decode(text), json.Unmarshal([]byte(text), new(jsonTarget)), json.Unmarshal([]byte(text), new([]any))} {
			got := JSON([]byte(text), err)
			if (got == nil) != (err == nil) {
				t.Fatalf("%v becomes %v", err, got)
			}
			if got != nil && (strings.Contains(got.Error(), "json:") || strings.Contains(got.Error(), "invalid character") || errors.Is(got, io.EOF)) {
				t.Fatalf("%q: %v", text, got)
			}
		}
	})
}
