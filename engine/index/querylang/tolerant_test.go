package querylang

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"heddle/engine/syntax"
)

// TestTolerant has tolerant words in all places of a query, and texts that look like them.
func TestTolerant(t *testing.T) {
	testParse(t, Or, map[string]string{
		"loom~ loom~1 loom~2,3":      "|(<loom~> <loom~1> <loom~2,3>)",
		"+loom~1^2 -te?t":            "-(<loom~1>^2 <te?t>)",
		"(loom~1 *ing)^2":            "|(<loom~1>^2 <*ing>^2)",
		"-*ing a":                    "-(a <*ing>)",
		"+?est !/x(y)/ a":            "-(+(<?est> a) </x(y)/>)",
		"a AND b*n* OR NOT b?n":      "|(&(a <b*n*>) -(* <b?n>))",
		"/b.ne/^3 (/a|b/)":           "|(</b.ne/>^3 </a|b/>)",
		"[a TO b] {a TO b} [* TO x}": "|(<[a TO b]> <{a TO b}> <[* TO x}>)",
		"([ a  TO\u3000b }^2)":       "<[ a  TO\u3000b }>^2",
		`[\* TO \[]`:                 `<[\* TO \[]>`,
		"b*":                         "b*",
		"te?* te??t 19?8^2":          "|(<te?*> <te??t> <19?8>^2)",
		"1998~1^2":                   "<1998~1>^2",
		`/a\/b\\/ /"b?ne"/`:          `|(</a\/b\\/> </"b?ne"/>)`,
		"**bold**":                   "<**bold**>",
		"* NOT b~":                   "-(* <b~>)",
		// text
		"what? a ? b":                        "|(what? a ? b)",
		"2 * 3 ~ ~1 a~b":                     "|(2 * 3 ~ ~1 a~b)",
		"[1] [a to b] x[1 TO 2]":             "|([1] [a to b] x[1 TO 2])",
		"[A TO Z of it]":                     "|([A TO Z of it])",
		"[a TO b]c":                          "|([a TO b]c)",
		"and/or /usr/bin/ /a b/":             "|(and/or /usr/bin/ /a b/)",
		`te\?t loom\~1 \*ing \/x/ \[a TO b]`: `|(te?t loom~1 *ing /x/ [a TO b])`,
	})
}

func TestReadTolerant(t *testing.T) {
	for text, want := range map[string]string{
		"loom~":           "{0 [loom] [] 2 -1 [false false]}",
		`a\~\*b~1,3`:      "{0 [a~*b] [] 1 3 [false false]}",
		"te?t":            "{1 [te t] [?] 0 0 [false false]}",
		`*b\*é**?n*`:      "{1 [ b*é n ] [* **? *] 0 0 [false false]}",
		"/b.ne/":          "{2 [b.ne] [] 0 0 [false false]}",
		"[a TO b]":        "{3 [a b] [] 0 0 [false false]}",
		`{* TO \*]`:       "{3 [ *] [] 0 0 [true false]}",
		"[ b\u3000TO * }": "{3 [b ] [] 0 0 [false true]}",
	} {
		if got, err := ReadTolerant(text); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "a", "a*", "*", "a b~", "b~ a", "a~^2", "(a~)", " a~", "a~3"} {
		if got, err := ReadTolerant(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestLongWords: prefixes and tolerant words are bounded, and other words are not.
func TestLongWords(t *testing.T) {
	word := strings.Repeat("é", MaxWord/2)
	expr := "/" + strings.Repeat("x", MaxExpression-2) + "/"
	for text, offset := range map[string]int{
		word + "*": -1, "a " + word + "x*": 2, word + "~1": 0, word[2:] + "~2": -1, "+?" + word: 1, word + "?b": 0, "[a TO " + word + "]": 0,
		expr: -1, "a (/x" + expr[1:] + ")": 3, word + word + word: -1, `"` + word + `b*"`: -1,
	} {
		_, err := Parse(text, Or)
		wrong, ok := errors.AsType[*syntax.Error](err)
		if ok != (offset >= 0) || ok && (wrong.Offset != offset || !strings.Contains(wrong.Reason, "are possible")) {
			t.Errorf("%.20s of %d bytes: %.200v, want offset %d", text, len(text), err, offset)
		}
	}
}

// TestPosition finds prefixes of phrases and windows, and of fields.
func TestPosition(t *testing.T) {
	lo := Expr{Op: Prefix, Term: "lo", Field: "title"}
	for text, want := range map[string]int{`lo "red lo*"`: 8, `lo* "lo*"`: 0, `"a (b*" NEAR/3(b\-* lo*)`: 20, `body:"lo*" title:"a lo*"`: 20, `title:(a "lo lo*")`: 13} {
		if at := Position(text, &lo); at != want {
			t.Errorf("%s: %d, want %d", text, at, want)
		}
	}
}
