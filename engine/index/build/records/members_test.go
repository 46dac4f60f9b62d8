package records

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"heddle/engine/index/build/source"
	"heddle/engine/plan/testneeds"
	"heddle/engine/syntax"
)

// object draws JSON that is nearly right.
func object() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{
		"{", "}", "[", "]", ",", ":", `"`, `\`, `\n`, `\u00e9`, `\ud83d\ude00`, `\ud800`, `\x`, "\n", " ", "\t", "é", "\xff", "0", "01", "-1.5e+3", "1.", "e", "true", "fals", "null",
		`"id"`, `"ID"`, `"text"`, `"Title"`, `"body"`, `"_id"`, `"\u0069d"`, `"bodK"`, `"vector"`, `"a b"`, `""`, `"x\"y\\\/\b\f\r\t"`,
		`"id":7`, `"id":"7"`, `"id":null`, `"docno":""`, `"name":{}`, `"text":"a"`, `"text":null`, `"body":"b"`, `"text":[]`, `"vector":{"a":1}`, `"more":[{"a":[1,{}]},[],"x"]`,
	})
	wild := rapid.Map(rapid.SliceOfN(piece, 0, 12), func(p []string) string { return strings.Join(p, "") })
	whole := rapid.Map(rapid.SliceOfN(piece, 0, 8), func(p []string) string { return "{" + strings.Join(p, ",") + "}" })
	return rapid.OneOf(wild, whole)
}

// compareJSON reads a record by both ways.
func compareJSON(t interface{ Fatalf(string, ...any) }, record []byte) {
	if !utf8.Valid(record) || syntax.LoneSurrogate("document", record) != "" {
		return // chunk.inspect mends it or leaves it out
	}
	at := source.Position{Line: 7}
	fast, slow := Document{Fields: NewFields(nil, "", nil)}, Document{Fields: NewFields(nil, "", nil)}
	if !fast.parseFlat(record, at) {
		return
	}
	if err := slow.parseAny(record, at); err != nil {
		t.Fatalf("%q is read; encoding/json says %v", record, err)
	}
	if !slices.Equal(slices.Sorted(maps.Keys(fast.Left)), slices.Sorted(maps.Keys(slow.Left))) {
		t.Fatalf("%q leaves out %v; encoding/json %v", record, fast.Left, slow.Left)
	}
	if !bytes.Equal(fast.Name, slow.Name) || !bytes.Equal(fast.Text, slow.Text) || fast.Unnamed != slow.Unnamed || slow.Vector.Given {
		t.Fatalf("%q: name %q, text %q; encoding/json reads %q and %q", record, fast.Name, fast.Text, slow.Name, slow.Text)
	}
}

func TestMembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		record := []byte(object().Draw(t, "object"))
		compareJSON(t, record)
		var m members
		if m.each(record, func(_, value []byte) {
			if !json.Valid(value) {
				t.Fatalf("the value %q", value)
			}
		}) && !json.Valid(record) {
			t.Fatalf("%q is no JSON", record)
		}
	})
}

// TestFlat: common documents need no encoding/json.
func TestFlat(t *testing.T) {
	for _, record := range []string{
		`{"id": "a", "text": "b"}`, ` {"ID":17,"Contents":"one \"two\"\n","rank":-0.5e7,"more":{"a":[true,null,"x"]}} `,
		`{"_id":"é","title":"é","text":"","metadata":{},"list":[]}`,
	} {
		d := Document{Fields: NewFields(nil, "", nil)}
		if !d.parseFlat([]byte(record), source.Position{}) {
			t.Errorf("%s goes the long way", record)
		}
		compareJSON(t, []byte(record))
	}
	d := Document{Fields: NewFields(nil, "", nil)}
	if record := []byte(`{"id": "a", "text": "one \"two\"\n"}`); !testneeds.Race && testing.AllocsPerRun(100, func() { d.parseFlat(record, source.Position{}) }) > 0 {
		t.Error("memory is allocated for each document")
	}
}

// TestMembersWrong: no part of JSON that is wrong, or too deep, is taken for members.
func TestMembersWrong(t *testing.T) {
	emit := func(_, _ []byte) {}
	for _, record := range []string{
		`{"a":"\x"}`, `{"a":"\`, `{"a":"b\"}`, `{"\a":1}`, `{"a":"` + "\x01" + `"}`, `{"a":01}`, `{"a":1.}`, `{"a":1e}`, `{"a":-}`, `{"a":tru}`, `{"a":1,}`, `{"a":1 "b":2}`, `{"a":[1,]}`,
		`{"a":{"b":1,}}`, `{"a":{"b"}}`, `{"a"}`, `{"a":1}{`, `{"a":1`, `{`, ``,
	} {
		if m := (members{}); m.each([]byte(record), emit) || json.Valid([]byte(record)) {
			t.Errorf("%s is taken", record)
		}
	}
	for _, depth := range []int{maxNested + 1, maxNested + 2, 1 << 20} {
		record := []byte(`{"a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + "}")
		if m := (members{}); m.each(record, emit) != (depth <= maxNested+1) {
			t.Errorf("%d arrays in each other: %v", depth, depth > maxNested+1)
		}
	}
}

func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"id":1,"text":"a\tb","x":[{"y":1e5}]}`))
	f.Fuzz(func(t *testing.T, record []byte) { compareJSON(t, record) })
}
