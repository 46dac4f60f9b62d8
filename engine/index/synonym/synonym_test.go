package synonym

import (
	"fmt"
	"strings"
	"testing"

	"heddle/engine/index/analyze"
	"heddle/engine/index/querylang"
)

const file = "\uFEFF# a comment\n" + `
car, auto,  Automobile
tv, tele vision => television
ny , new york
new => fresh
car, wagon
a\,b\=>c, c\+\+ => s/t
`

// TestRewrite puts synonyms into texts: the result is read as it was written.
func TestRewrite(t *testing.T) {
	a, err := analyze.New(analyze.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := Read(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	s, err := rules.For(a, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text    string
		literal bool
		join    querylang.Op
		want    string
	}{
		{"CAR red", false, querylang.Or, `/car|auto|automobile|wagon/ OR red`},
		{"car red", false, querylang.And, `/car|auto|automobile|wagon/ AND red`},
		{"wagon auto^2.5", false, querylang.Or, `/car|wagon/ OR /car|auto|automobile/^2.5`},
		{"+tele vision -tv", false, querylang.Or, `(+tele vision) NOT /television/`},
		{"tele vision", true, querylang.And, `/television/`},
		{"in new york ny", false, querylang.Or, `in OR (/ny/ OR "new york") OR (/ny/ OR "new york")`},
		{"ny^2 new york^2", false, querylang.And, `(/ny/^2 OR "new york"^2) AND /fresh/ AND york^2`},
		{`"new york" car* AND -(tv x)`, false, querylang.Or, `(+car* "new york") NOT (/television/ OR x)`},
		{"c++ (tv)", true, querylang.Or, `"s\/t" OR /television/`},
		{"new OR york", false, querylang.Or, "/fresh/ OR york"},
		{"new AND york", false, querylang.And, "/fresh/ AND york"},
		{"+new +york !tele -vision", false, querylang.Or, "/fresh/ AND york NOT tele NOT vision"},
		{"(new) york", false, querylang.Or, "/fresh/ OR york"},
		{"new york AND x", false, querylang.And, "/fresh/ AND york AND x"},
		{"x -a new york OR (new york)^2", false, querylang.Or, `(x OR (/ny/ OR "new york")) NOT a OR (/ny/^2 OR "new york"^2)`},
		{"", true, querylang.Or, ""}, {"x", false, querylang.Or, "x"},
	} {
		got, err := s.Rewrite(c.text, c.literal, c.join)
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v, want %s", c.text, got, err, c.want)
		}
		if again, err := querylang.Parse(got, c.join); err != nil || again.String() != got {
			t.Errorf("%s is read as %s, %v", got, again, err)
		}
	}
	if _, err := s.Rewrite("(", false, querylang.Or); err != nil {
		t.Error(err)
	}
	if _, err := s.Rewrite("x AND", false, querylang.Or); err == nil {
		t.Error("a wrong text has no error")
	}
	if _, err := rules.For(a, false); err == nil || !strings.Contains(err.Error(), "synonyms: line 5: \"new york\" has 2 terms") {
		t.Errorf("without positions: %v", err)
	}
	for text, want := range map[string]string{"a": "no synonym", "a,": "empty word", "=> b": "empty word", "a => b => c": "more than one", "x, y\n\n a =>": "line 3", "x, y\ncaf\xe9, bar": "line 2: \"caf\\xe9, bar\" is no UTF-8", "x, y\n" + strings.Repeat("x", 1<<20): "line 2: more than 1048575 bytes"} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	bare, err := Read(strings.NewReader("x, !!"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bare.For(a, true); err == nil || !strings.Contains(err.Error(), "leaves nothing") {
		t.Errorf("a word without letters: %v", err)
	}
}

// TestManyWords reads a line of many words, each of which stands for all, in time that grows with the line.
func TestManyWords(t *testing.T) {
	const n = 50_000
	var line strings.Builder
	for i := range n {
		fmt.Fprintf(&line, "w%d,", i)
	}
	rules, err := Read(strings.NewReader(line.String() + "w0\nw7, w0, other"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := analyze.New(analyze.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := rules.For(a, false)
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]int{"w1": n, "w7": n + 1, "other": 3} {
		got, err := s.Rewrite(word, true, querylang.Or)
		if terms := strings.Count(got, "|") + 1; err != nil || terms != want {
			t.Errorf("%s: %d terms, %v, want %d", word, terms, err, want)
		}
	}
}
