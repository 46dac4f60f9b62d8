package syntax

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestCheckJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"b":{"a":[{"a":1},{"a":2}]}}`: "",
		`{"a":"}{\"a\":1,","b":["x","x"]}`:    "",
		`{"a":1,"a":2}`:                       `byte 8: the object has the member "a" twice`,
		`{"b":[{"a":1,"c":{},"\u0061":[]}]}`:  `byte 21: the object has the member "a" twice`,
		`{"a":"\"","b":1,"b":2}`:              `byte 17: the object has the member "b" twice`,
		`{"b":[],"c":{},"b":1}`:               `byte 16: the object has the member "b" twice`,
		"{\"a\":\"\xff\"}":                    "byte 7 is 0xff, which is not UTF-8",
		`{"a":"\ud800"}`:                      `is \ud800, half of a surrogate pair`,
		`{"a":"\ud83d\ude00"}`:                "",
		`{"a":1,"a":`:                         "", // the decoder finds the end
		``:                                    "",
		`[]`:                                  "",
		`"a"`:                                 "",
		`{"refused":1}`:                       "refused",
		`{` + members(64) + `}`:               "",
		`{` + members(65) + `}`:               "more than 64 members",
	} {
		_, err := CheckJSON([]byte(text), func(name string) error {
			if name == "refused" {
				return fmt.Errorf("%s", name)
			}
			return nil
		})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for text, least := range map[string]int64{`[` + strings.Repeat(`{},`, 99) + `{}]`: 100 * 256, `[` + strings.Repeat(`"",`, 99) + `""]`: 99 * 32} {
		if got, err := CheckJSON([]byte(text), nil); err != nil || got < least || got > 2*least {
			t.Errorf("%.20s…: %d bytes, %v, want %d", text, got, err, least)
		}
	}
}

func members(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`"m%d":%d`, i, i))
	}
	return strings.Join(all, ",")
}

// FuzzCheckJSON compares the repeated members with a decoder by tokens.
func FuzzCheckJSON(f *testing.F) {
	f.Add(`{"a":{"b":1,"b":2}}`)
	f.Add(`[{"a":"\"b\":","\u0061":null}]`)
	f.Fuzz(func(t *testing.T, text string) {
		_, err := CheckJSON([]byte(text), nil)
		if !json.Valid([]byte(text)) || err != nil && !strings.Contains(err.Error(), "twice") {
			return
		}
		if repeats := repeated(json.NewDecoder(strings.NewReader(text))); repeats != (err != nil) {
			t.Errorf("%q: %v, repeated %v", text, err, repeats)
		}
	})
}

// repeated reads a value, and reports whether an object has a member twice.
func repeated(d *json.Decoder) (found bool) {
	token, _ := d.Token()
	switch token {
	case json.Delim('{'):
		seen := map[any]bool{}
		for d.More() {
			name, _ := d.Token()
			found = found || seen[name]
			seen[name] = true
			found = repeated(d) || found
		}
		d.Token()
	case json.Delim('['):
		for d.More() {
			found = repeated(d) || found
		}
		d.Token()
	}
	return found
}
