package querylang

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"heddle/engine/syntax"
)

// shape writes an expression with all its parentheses, so that a test can see
// its structure.
func shape(e Expr) string {
	if e.Op == Term {
		return e.Term
	}
	var parts []string
	for _, a := range e.Args {
		parts = append(parts, shape(a))
	}
	return []string{And: "&", Or: "|", Not: "-"}[e.Op] + "(" + strings.Join(parts, " ") + ")"
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "|()",
		" \t\n ":                       "|()",
		"a":                            "a",
		"  a  ":                        "a",
		"((a))":                        "a",
		"a b":                          "&(a b)",
		"a AND b":                      "&(a b)",
		"a AND b c":                    "&(a b c)",
		"a OR b OR c":                  "|(a b c)",
		"a OR b c":                     "|(a &(b c))",
		"a b OR c AND d":               "|(&(a b) &(c d))",
		"(a OR b) c":                   "&(|(a b) c)",
		"a(b)c":                        "&(a b c)",
		"a NOT b":                      "-(a b)",
		"a AND NOT b":                  "-(a b)",
		"a NOT b NOT c":                "-(a b c)",
		"a NOT b c":                    "-(&(a c) b)",
		"a NOT b AND c AND NOT d":      "-(&(a c) b d)",
		"a NOT (b OR c)":               "-(a |(b c))",
		"a OR b NOT c":                 "|(a -(b c))",
		"a AND (b OR c) NOT d":         "-(&(a |(b c)) d)",
		"(a NOT b) NOT c":              "-(-(a b) c)",
		"and or not And Or Not":        "&(and or not And Or Not)",
		"ANDY ORB NOTE":                "&(ANDY ORB NOTE)",
		`"AND" OR "NOT"`:               "|(AND NOT)",
		`"a b"`:                        "a b",
		`a"b c"d`:                      "&(a b c d)",
		`"a \"b\" \\ \c"`:              `a "b" \ \c`,
		`""`:                           "",
		`"(" ")"`:                      "&(( ))",
		"loom-2 doesn't 3.14 #tag a:b": "&(loom-2 doesn't 3.14 #tag a:b)",
		"é AND日本":                      "&(é AND日本)",
		"a\u00a0b\u3000c":              "&(a b c)",
		"\xff\xfe OR a":                "|(\xff\xfe a)",
	} {
		e, err := Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := shape(e); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for text, want := range map[string]string{ // column and the start of the reason
		"NOT a":        "1 a NOT with nothing to subtract from",
		"a OR NOT b":   "6 a NOT with nothing to subtract from",
		"(NOT a) b":    "2 a NOT with nothing to subtract from",
		"NOT":          "1 a NOT with nothing to subtract from",
		"a NOT NOT b":  "3 nothing behind this NOT",
		"a NOT":        "3 nothing behind this NOT",
		"a AND NOT":    "7 nothing behind this NOT",
		"a AND":        "3 nothing behind this AND",
		"é a AND ":     "5 nothing behind this AND",
		"a AND AND b":  "3 nothing behind this AND",
		"a AND OR b":   "3 nothing behind this AND",
		"(a AND) b":    "4 nothing behind this AND",
		"a OR":         "3 nothing behind this OR",
		"a OR OR b":    "3 nothing behind this OR",
		"a OR )":       "3 nothing behind this OR",
		"AND a":        "1 nothing before this AND",
		"OR":           "1 nothing before this OR",
		"(OR a)":       "2 nothing before this OR",
		"()":           "1 nothing between these parentheses",
		"a (  ) b":     "3 nothing between these parentheses",
		"(a":           "1 a ( without its )",
		"a (b (c)":     "3 a ( without its )",
		"(":            "1 a ( without its )",
		"a)":           "2 a ) without its (",
		")":            "1 a ) without its (",
		"(a))":         "4 a ) without its (",
		`a "b c`:       "3 a quote that does not end",
		`"`:            "1 a quote that does not end",
		`a "b\"`:       "3 a quote that does not end",
		"日本 \u3000) a": "5 a ) without its (",
	} {
		_, err := Parse(text)
		var s *syntax.Error
		if !errors.As(err, &s) {
			t.Errorf("%q: %v", text, err)
		} else if got := fmt.Sprint(s.Column(), " ", s.Reason); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestCaret(t *testing.T) {
	long := strings.Repeat("w ", 100)
	for text, want := range map[string]string{
		"é OR NOT b":       "column 6: a NOT with nothing to subtract from: NOT takes away from what stands before it, as in a NOT b\n  é OR NOT b\n       ^",
		"a\tAND":           "column 3: nothing behind this AND\n  a AND\n    ^",
		long + ") " + long: "column 201: a ) without its (\n  ..." + long[:40] + ") " + long[:38] + "...\n  " + strings.Repeat(" ", 43) + "^",
		"(" + long:         "column 1: a ( without its )\n  (" + long[:39] + "...\n  ^",
		"a \x1b[31m\nb (":  "column 11: a ( without its )\n  a  [31m b (\n            ^",
	} {
		_, err := Parse(text)
		if err == nil || err.Error() != want {
			t.Errorf("%q:\n%v\nwant\n%s", text, err, want)
		}
	}
}

// TestBounds has queries as large and as deep as there may be, and larger ones.
func TestBounds(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("(", n) + "a" + strings.Repeat(")", n) }
	for _, text := range []string{strings.Repeat("a OR b ", MaxTerms/2), strings.Repeat("a ", MaxTerms), nested(MaxNesting), strings.Repeat(nested(MaxNesting)+" ", 3)} {
		e, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse(e.String()); err != nil || !reflect.DeepEqual(again, e) {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
	for text, want := range map[string]string{
		strings.Repeat("a ", MaxTerms+1): "more than 4095 terms",
		nested(MaxNesting + 1):           "more than 1000 parentheses",
		strings.Repeat("(", 1<<20):       "more than 1000 parentheses",
		strings.Repeat("a (", 1<<20):     "more than 1000 parentheses",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes: %.300v, want %s", len(text), err, want)
		}
	}
}

// randomQuery draws an expression in the form that Parse gives.
func randomQuery(r *rand.Rand, depth int) Expr {
	if depth == 0 || r.IntN(3) == 0 {
		terms := []string{"a", "loom", "AND", "OR", "NOT", "", "a b", `"`, `\`, "(x)", "日本", "é\"é", `\"`, "\t", "\xff"}
		return Expr{Term: terms[r.IntN(len(terms))]}
	}
	e := Expr{Op: Op(1 + r.IntN(3))}
	for range 2 + r.IntN(3) {
		e.Args = append(e.Args, randomQuery(r, depth-1))
	}
	return e
}

// TestString writes random expressions and reads them again. Expressions that
// differ in nested parentheses alone, such as (a AND b) AND c, stay different.
func TestString(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		e := randomQuery(r, r.IntN(5))
		again, err := Parse(e.String())
		if err != nil {
			t.Fatalf("%s becomes %s: %v", shape(e), e, err)
		}
		if !reflect.DeepEqual(again, e) {
			t.Fatalf("%s becomes %s, which is %s", shape(e), e, shape(again))
		}
	}
}

// FuzzParse: any text gives an error with a place in it, or a query with the same meaning
// after it is written and read again.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"a AND (b OR c) NOT d", `"AND" NOT ("a b" OR 日本)`, "NOT a", "((a)", `"\"`, "a OR", "\xff(", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			var s *syntax.Error
			if !errors.As(err, &s) || s.Offset < 0 || s.Offset > len(text) || s.Column() > utf8.RuneCountInString(text)+1 ||
				strings.Count(err.Error(), "\n") != 2 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		again, err := Parse(e.String())
		if err != nil || !reflect.DeepEqual(again, e) {
			t.Fatalf("%q is %s, which is %s: %v", text, e, shape(again), err)
		}
	})
}
