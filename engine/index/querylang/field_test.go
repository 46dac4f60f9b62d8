package querylang

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"heddle/engine/syntax"
)

// TestFields reads fields before words, phrases, windows, tolerant words and parentheses.
func TestFields(t *testing.T) {
	testParse(t, Or, map[string]string{
		"title:loom body":                "|(title: loom body)",
		"+title:loom^2 -x:y":             "-(title: loom^2 x: y)",
		`title:"red loom"~2`:             "title: " + fmt.Sprint(Phrase, uint32(2), []Expr{{Term: "red"}, {Term: "loom"}}),
		"title:NEAR/5(red loom)":         "title: " + fmt.Sprint(Near, uint32(5), []Expr{{Term: "red"}, {Term: "loom"}}),
		"title:(a b:c -d)^2 e":           "|(-(|(title: a^2 b: c^2) title: d^2) e)",
		"title:lo* a.b:te?t x-1:/b.n/":   "|(title: lo* <a.b: te?t> <x-1: /b.n/>)",
		"y:[a TO b] title:loom~1":        "|(<y: [a TO b]> <title: loom~1>)",
		"title:*ing":                     "<title: *ing>",
		"a title:*^2 -body:**":           "-(|(a *title) *body)",
		"title:(* -b:* (-a))":            "-(|(*title -(* title: a)) *b)",
		"title:*x title:*) a":            "|(<title: *x> *title ) a)",
		"title:AND a":                    "|(title: AND a)",
		`title:\-b`:                      "title: -b",
		`a\:b http://x 12:30 a: :b t:-b`: "|(a:b http://x 12:30 a: :b t:-b)",
		"title:/a(b)/ (c)":               "|(<title: /a(b)/> c)",
	})
	two := []Field{{"title", 3}, {"body", 1}}
	for text, want := range map[string]string{
		"a -title:b":    "-(|(title: a^3 body: a) title: b)",
		"a^2 AND b*":    "&(|(title: a^6 body: a^2) |(title: b*^3 body: b*))",
		"* AND \"a b\"": "&(* |(title: " + fmt.Sprint(Phrase, uint32(0), []Expr{{Term: "a"}, {Term: "b"}}) + "^3 body: " + fmt.Sprint(Phrase, uint32(0), []Expr{{Term: "a"}, {Term: "b"}}) + "))",
	} {
		e, err := Parse(text, Or)
		in, ok := e.InFields(two)
		if got := shape(in); err != nil || !ok || got != want {
			t.Errorf("%q: %s %v %v, want %s", text, got, ok, err, want)
		}
	}
	if e, ok := (Expr{Term: "a", Weight: 1e200}).InFields([]Field{{"a", 1e200}}); ok {
		t.Errorf("infinite weight: %v", e)
	}
	if one, _ := (Expr{Term: "a"}).InFields(two[:1]); !reflect.DeepEqual(one, Expr{Term: "a", Field: "title", Weight: 3}) {
		t.Errorf("one field: %v", one)
	}
	if at := FieldAt("a (b:c) title:(d)", "title"); at != 8 {
		t.Errorf("title at %d", at)
	}
}

// TestParseFields reads fields with weights.
func TestParseFields(t *testing.T) {
	all, err := ParseFields(" title^3, body ,a.b^0.5")
	if want := []Field{{"title", 3}, {"body", 1}, {"a.b", 0.5}}; err != nil || !slices.Equal(all, want) {
		t.Errorf("%v %v, want %v", all, err, want)
	}
	if all, err := ParseFields(" "); all != nil || err != nil {
		t.Errorf("no fields: %v %v", all, err)
	}
	for text, want := range map[string]string{
		"title,": "7 no name", "a b": "1 no name", "a,b^0": `3 the weight "0"`, "a^x": "1 the weight", "a,b,a": "5 the field a comes twice", "1a": "1 no name", "a:": "1 no name",
	} {
		_, err := ParseFields(text)
		var s *syntax.Error
		if !errors.As(err, &s) || !strings.HasPrefix(fmt.Sprint(s.Column(), " ", s.Reason), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
