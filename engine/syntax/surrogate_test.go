package syntax

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestLoneSurrogate finds halves of surrogate pairs among other escapes.
func TestLoneSurrogate(t *testing.T) {
	for text, want := range map[string]string{
		`"\ud800"`:             "byte 1 ",
		`"ab\uDFFFx"`:          `byte 3 of the line is \uDFFF, half`,
		`"\ud834\udd1e\ud834"`: "byte 13 ",
		`"\ud834\ud834\udd1e"`: "byte 1 ",
		`"\udd1e\ud834"`:       "byte 1 ",
		`"\ud834\n"`:           "byte 1 ",
		`"\ud834\udd1e"`:       "",
		`"\\ud800"`:            "",
		`"\\\ud800"`:           "byte 3 ",
		`"\ufffd \u00e9 \n"`:   "",
		`"\ud8`:                "",
		`"\`:                   "",
		``:                     "",
	} {
		if got := LoneSurrogate("line", []byte(text)); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// FuzzLoneSurrogate compares with encoding/json, which makes U+FFFD of each half.
func FuzzLoneSurrogate(f *testing.F) {
	for _, text := range []string{`\ud834\udd1e`, `\ud834`, `\\ud834`, `é\n\udc00`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s string
		if strings.Contains(text, "\ufffd") || strings.Contains(strings.ToLower(text), `\ufffd`) || strings.ToValidUTF8(text, "") != text ||
			json.Unmarshal([]byte(`"`+text+`"`), &s) != nil {
			return
		}
		if found := LoneSurrogate("text", []byte(text)) != ""; found != strings.Contains(s, "\ufffd") {
			t.Errorf("%q: found %v; JSON %q", text, found, s)
		}
	})
}
