package querylang

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"heddle/engine/syntax"
)

// shape writes an expression with all its parentheses, so that a test can see
// its structure.
func shape(e Expr) string {
	if e.Op == All {
		return "*" + e.Field
	}
	if e.leaf() {
		s := e.Term
		if e.Positional() {
			s = fmt.Sprint(e.Op, e.Distance, e.Args)
		}
		if e.Field != "" {
			s = e.Field + ": " + s
		}
		if e.Op == Prefix {
			s += "*"
		} else if e.Op == Expand {
			s = "<" + s + ">"
		}
		if e.Weight != 0 {
			s += fmt.Sprintf("^%v", e.Weight)
		}
		return s
	}
	var parts []string
	for _, a := range e.Args {
		parts = append(parts, shape(a))
	}
	return []string{And: "&", Or: "|", Not: "-", Prefer: "+"}[e.Op] + "(" + strings.Join(parts, " ") + ")"
}

func testParse(t *testing.T, join Op, wants map[string]string) {
	for text, want := range wants {
		e, err := Parse(text, join)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := shape(e); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestParse joins words by AND.
func TestParse(t *testing.T) {
	testParse(t, And, map[string]string{
		"":                        "|()",
		" \t\n ":                  "|()",
		"a":                       "a",
		"  a  ":                   "a",
		"((a))":                   "a",
		"a b":                     "&(a b)",
		"a AND b":                 "&(a b)",
		"a AND b c":               "&(a b c)",
		"a OR b OR c":             "|(a b c)",
		"a OR b c":                "|(a &(b c))",
		"a b OR c AND d":          "|(&(a b) &(c d))",
		"(a OR b) c":              "&(|(a b) c)",
		"a(b)c":                   "&(a b c)",
		"a NOT b":                 "-(a b)",
		"a AND NOT b":             "-(a b)",
		"a NOT b NOT c":           "-(a b c)",
		"a NOT b c":               "-(&(a c) b)",
		"a NOT b AND c AND NOT d": "-(&(a c) b d)",
		"a NOT (b OR c)":          "-(a |(b c))",
		"a OR b NOT c":            "|(a -(b c))",
		"a AND (b OR c) NOT d":    "-(&(a |(b c)) d)",
		"(a NOT b) NOT c":         "-(-(a b) c)",
		"and or not And Or Not":   "&(and or not And Or Not)",
		"ANDY ORB NOTE":           "&(ANDY ORB NOTE)",
		"a\u00a0b\u3000c":         "&(a b c)",
		"\xff\xfe OR a":           "|(\xff\xfe a)",
		"é AND日本":                 "&(é AND日本)",
		"+a b -c":                 "-(&(a b) c)",
	})
}

// TestLucene has the queries whose meaning Lucene defines, and words joined by OR.
func TestLucene(t *testing.T) {
	testParse(t, Or, map[string]string{
		"a b":                "|(a b)",
		"bone or marrow":     "|(bone or marrow)",
		"+bone -cell":        "-(bone cell)",
		"-cell +bone":        "-(bone cell)",
		"-cell bone":         "-(bone cell)",
		"NOT cell bone":      "-(bone cell)",
		"+bone marrow":       "+(bone marrow)",
		"+bone marrow -cell": "-(+(bone marrow) cell)",
		"+a +b c d":          "+(&(a b) c d)",
		"a AND b c":          "+(&(a b) c)",
		"a b AND c":          "+(&(b c) a)",
		"a b NOT c":          "-(|(a b) c)",
		"a AND -b":           "-(a b)",
		"+(a b) c":           "+(|(a b) c)",
		"-(a b) c":           "-(c |(a b))",
		"a OR +b c":          "|(a +(b c))",
		"(-a b) c":           "|(-(b a) c)",
		"bone^2 comp*":       "|(bone^2 comp*)",
		"comp*^0.5":          "comp*^0.5",
		"+comp* -computer":   "-(comp* computer)",
		"(a^2 b comp*)^3":    "|(a^6 b^3 comp*^3)",
		"a^1e2":              "a^100",
		"é^.5":               "é^0.5",
		"(1998)^2 a":         "|(1998^2 a)",
		`\1998^2 H2O^3`:      "|(1998^2 H2O^3)",
		"ไทย^2 漢^3 a1*^4":    "|(ไทย^2 漢^3 a1*^4)",
		"19*^2":              "19*^2",
		"a && b":             "&(a b)",
		"a || b":             "|(a b)",
		"a && b || c !d":     "|(&(a b) -(c d))",
		"(a)&&(b)||c":        "+(&(a b) ||c)", // a word ends at white space or a parenthesis
		"!hell heaven":       "-(heaven hell)",
		"heaven !(hell sea)": "-(heaven |(hell sea))",
		"a AND !b":           "-(a b)",
		"a || !b c":          "|(a -(c b))",
		"(!a b) c":           "|(-(b a) c)",
		`a !\-b !9`:          "-(a -b 9)",
	})
}

// TestAll has queries that match all documents, or all but some.
func TestAll(t *testing.T) {
	testParse(t, Or, map[string]string{
		"*":             "*",
		" *:* ":         "*",
		"NOT a":         "-(* a)",
		"-a -b":         "-(* a b)",
		"!a":            "-(* a)",
		"a OR NOT b":    "|(a -(* b))",
		"(NOT a) b":     "|(-(* a) b)",
		"* NOT a":       "-(* a)",
		"* -a":          "-(* a)",
		"* AND a":       "&(* a)",
		"a OR *":        "|(a *)",
		"+(*) a":        "+(* a)",
		"(*)":           "*",
		"a AND (* b)":   "&(a |(* b))", // the * is text
		"2 * 3":         "|(2 * 3)",
		"* a":           "|(* a)",
		`\*`:            "*", // a term
		"a * b * c * 1": "|(a * b * c * 1)",
		"**":            "*",
		"** OR a":       "|(* a)",
		"+*":            "*",
		"+** a":         "+(* a)",
		"a +*:*^2":      "+(* a)",
		"(-*) a":        "|(-(* *) a)",
		`a +\*`:         "+(* a)", // a term
		"a +*- b":       "|(a +*- b)",
	})
	for text, all := range map[string]bool{"*": true, "2 * 3": false, `\*`: false, "* a": false, "a OR *": true, "NOT a": true, "a (* b)": false, "a *": false, "* - a": false, "a OR -b": true, "** a": false, "+** a": true, `a +\*`: false} {
		e, err := Parse(text, Or)
		if got := hasAll(e); err != nil || got != all {
			t.Errorf("%q: all documents %v, %v", text, got, err)
		}
	}
}

func hasAll(e Expr) bool { return e.Op == All || slices.ContainsFunc(e.Args, hasAll) }

// TestBare: parentheses and signs that are no operators are text, and Bare names them.
func TestBare(t *testing.T) {
	for text, want := range map[string]struct {
		shape string
		at    []int
	}{
		"sheep (and goats":   {"|(sheep (and goats)", []int{6}},
		"a) b":               {"|(a) b)", []int{1}},
		"(a) b)":             {"|(a b))", []int{5}},
		"((a) b":             {"|(( a b)", []int{0}},
		"()":                 {"()", []int{0, 1}},
		"a (  ) b":           {"|(a ( ) b)", []int{2, 5}},
		"a -(":               {"|(a -()", []int{2, 3}},
		"a -b +":             {"-(|(a +) b)", []int{5}},
		"f(x) = (y":          {"|(f x = (y)", []int{7}},
		`\( (a) \)`:          {"|(( a ))", nil},
		"well-known C++ a!":  {"|(well-known C++ a!)", nil},
		"日本 \u3000) a":       {"|(日本 ) a)", []int{10}},
		"a - b":              {"|(a - b)", []int{2}},
		"(a^2)^3)":           {"|(a^6 ))", []int{7}},
		"a (b OR c) -d !(e)": {"-(|(a |(b c)) d e)", nil},
		"(-a":                {"(-a", []int{0}},
	} {
		e, err := Parse(text, Or)
		if got := shape(e); err != nil || got != want.shape {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want.shape)
		}
		if got := Bare(text); !reflect.DeepEqual(got, want.at) {
			t.Errorf("Bare(%q) is %v, want %v", text, got, want.at)
		}
	}
}

// TestText has signs and punctuation that mean nothing.
func TestText(t *testing.T) {
	testParse(t, Or, map[string]string{
		"10^-8 cells":              "|(10^-8 cells)",
		"10^8 cells 2.5^3 1-2^2":   "|(10^8 cells 2.5^3 1-2^2)",
		"±5^2 №^2 10^6/ml":         "|(±5^2 №^2 10^6/ml)",
		`a\^ x\^n ^_^ 10^ (1^x)`:   "|(a^ x^n ^_^ 10^ 1^x)",
		"covid-19^x covid-19^2":    "|(covid-19^x covid-19^2)",
		"^2 a":                     "|(^2 a)",
		"a - b + c":                "|(a - b + c)",
		"well-known C++ --flag":    "|(well-known C++ --flag)",
		"-. +! a":                  "|(-. +! a)",
		"doesn't 3.14 #tag":        "|(doesn't 3.14 #tag)",
		"12:30 note: http://x":     "|(12:30 note: http://x)",
		"std::string":              "std::string",
		"~5 a ~ b":                 "|(~5 a ~ b)",
		"what? 2 * 3 ***":          "|(what? 2 * 3 ***)",
		`\AND \(a\) \"b\"`:         `|(AND (a) "b")`,
		`a\ b c\*`:                 "|(a b c*)",
		`x\:y bone\~1 \-a`:         "|(x:y bone~1 -a)",
		`a\^2 \`:                   `|(a^2 \)`,
		"Hello! a!b !? ! != !!a":   "|(Hello! a!b !? ! != !!a)",
		"a&&b x||y & | &&& &&^2":   "|(a&&b x||y & | &&& &&^2)",
		`\&& \|| \!a`:              "|(&& || !a)",
		"[1] [a] {x} a[1]":         "|([1] [a] {x} a[1])",
		"[a to b] [A TO Z of x]":   "|([a to b] [A TO Z of x])",
		"x[1 TO 2] [ TO ] [a TO":   "|(x[1 TO 2] [ TO ] [a TO)",
		`\[a TO b] [a \TO b]`:      "|([a TO b] [a TO b])",
		"and/or /usr/bin /dev/a/":  "|(and/or /usr/bin /dev/a/)",
		"http://x/ // /// / a/ /":  "|(http://x/ // /// / a/ /)",
		`1/2 +/- \/re/ /a b/ a/b/`: "|(1/2 +/- /re/ /a b/ a/b/)",
	})
}

// TestEachWord compares the words of texts without operators with Parse.
func TestEachWord(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "",
		"bone marrow":      "[bone marrow]1",
		"what? is: it":     "[what? is: it]1",
		"heaven^2.5 earth": "[heaven]2.5[earth]1",
		"10^-8 cells":      "[10^-8]1[cells]1",
		"10^8 a^2":         "[10^8]1[a]2",
		"a\u00a0b^3":       "[a]1[b]3",
		"HAND ORB":         "[HAND]1[ORB]1",
		`\AND \+a`:         "[AND]1[+a]1",
		"Hello! [1] /a":    "[Hello!]1[[1]]1[/a]1",
	} {
		got := ""
		words, err := EachWord(text, func(part string, weight float64) error {
			got += fmt.Sprintf("[%s]%v", part, weight)
			return nil
		})
		if !words || err != nil || got != want {
			t.Errorf("%q: %s %v %v, want %s", text, got, words, err, want)
		}
	}
	for _, text := range []string{"a AND b", "a OR b", "NOT a", "+a", "a\n-b", "(a)", "*", "comp*", `a "b c"`, "a NEAR/2(b c)", "\u3000-a", "a && b", "a || b", "a !b", "\u3000!b"} {
		if words, err := EachWord(text, func(string, float64) error { return nil }); words || err != nil {
			t.Errorf("%q: %v %v", text, words, err)
		}
	}
	for _, text := range []string{"a b", "a^2 b"} {
		stop := errors.New("stop")
		if words, err := EachWord(text, func(string, float64) error { return stop }); words || err != stop {
			t.Errorf("%q: %v %v", text, words, err)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for text, want := range map[string]string{ // column and the start of the reason
		"NOT":                             "1 nothing behind this NOT",
		"a NOT NOT b":                     "3 nothing behind this NOT",
		"a NOT -b":                        "3 nothing behind this NOT",
		"a NOT":                           "3 nothing behind this NOT",
		"a AND NOT":                       "7 nothing behind this NOT",
		"a +NOT":                          "3 nothing behind this +",
		"a AND":                           "3 nothing behind this AND",
		"é a AND ":                        "5 nothing behind this AND",
		"a AND AND b":                     "3 nothing behind this AND",
		"a AND OR b":                      "3 nothing behind this AND",
		"(a AND) b":                       "4 nothing behind this AND",
		"a OR":                            "3 nothing behind this OR",
		"a OR OR b":                       "3 nothing behind this OR",
		"AND a":                           "1 nothing before this AND",
		"OR":                              "1 nothing before this OR",
		"(OR a)":                          "2 nothing before this OR",
		"a:b:c":                           `4 a field of a field: write \: for the character`,
		"title:*^0":                       `8 the weight "0"`,
		"title:(a OR)":                    "10 nothing behind this OR",
		"title:te?t^0":                    `11 the weight "0"`,
		"y:[b TO a]":                      "3 a range whose first",
		"bone~0.5^2":                      "5 0.5 edits: write ~1 or ~2",
		"(bone~3)":                        "6 3 edits",
		"b*ne~":                           "5 a wildcard has no similar words",
		"bone*~1":                         "6 a wildcard has no similar words",
		"bone~1,99999":                    "5 99999 first characters: at most 32768",
		"a /b(c/":                         "3 missing closing ): `b(c`: write \\/",
		"/^bone$/":                        "1 a regular expression is compared with whole terms: omit ^",
		`/\bbone/`:                        "1 a regular expression is compared with whole terms: omit \\b",
		"+/[^\\x00-\\x{10FFFF}]/":         "2 a regular expression that no term matches",
		"a [d TO c]":                      `3 a range whose first term "d" is behind its last term "c"`,
		"te?t^0":                          `5 the weight "0"`,
		"/re/^x":                          `5 the weight "x"`,
		"loom~1^x":                        `7 the weight "x"`,
		"(a^1e300)^1e99":                  "10 the product of this weight",
		"(a^1e-300)^1e-99":                "11 the product of this weight",
		"faith^1e999":                     `6 the weight "1e999" is no positive decimal number: write \^`,
		"hope faith^NaN":                  `11 the weight "NaN"`,
		"faith^-1":                        `6 the weight "-1"`,
		"faith^+1":                        `6 the weight "+1"`,
		"faith^0 hope":                    `6 the weight "0"`,
		"faith^1e-999":                    `6 the weight "1e-999"`,
		"faith^inf":                       `6 the weight "inf"`,
		"a^0x1p3":                         `2 the weight "0x1p3"`,
		"a^1_0":                           `2 the weight "1_0"`,
		"x^n":                             `2 the weight "n"`,
		"é^ a":                            `2 the weight ""`,
		"a^2^3":                           `2 the weight "2^3"`,
		"(a b)^0":                         `6 the weight "0"`,
		"(1998)^x a":                      `7 the weight "x"`,
		"comp*^-2":                        `6 the weight "-2"`,
		`\1^x`:                            `3 the weight "x"`,
		"a^" + strings.Repeat("9", 1<<20): `2 the weight "` + strings.Repeat("9", 100) + `"… is`,
		"a && || b":                       "3 nothing behind this &&",
		"a ||":                            "3 nothing behind this ||",
		"&& a":                            "1 nothing before this &&",
		"a !NOT b":                        "3 nothing behind this !",
	} {
		for _, join := range []Op{And, Or} {
			_, err := Parse(text, join)
			var s *syntax.Error
			if !errors.As(err, &s) {
				t.Errorf("%q: %v", text, err)
			} else if got := fmt.Sprint(s.Column(), " ", s.Reason); !strings.HasPrefix(got, want) {
				t.Errorf("%q: %s, want %s", text, got, want)
			}
		}
	}
}

func TestCaret(t *testing.T) {
	long := strings.Repeat("w ", 100)
	for text, want := range map[string]string{
		"é OR b AND":        "column 8: nothing behind this AND\n  é OR b AND\n         ^",
		"a\tAND":            "column 3: nothing behind this AND\n  a AND\n    ^",
		long + "\" " + long: "column 201: a quote without its partner: write \\\" for the character\n  ..." + long[:40] + "\" " + long[:38] + "...\n  " + strings.Repeat(" ", 43) + "^",
		"\"" + long:         "column 1: a quote without its partner: write \\\" for the character\n  \"" + long[:39] + "...\n  ^",
		"a \x1b[31m\nb OR":  "column 11: nothing behind this OR\n  a  [31m b OR\n            ^",
	} {
		_, err := Parse(text, Or)
		if err == nil || err.Error() != want {
			t.Errorf("%q:\n%v\nwant\n%s", text, err, want)
		}
	}
}

// TestBounds has queries as large and as deep as there may be, and larger ones.
func TestBounds(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("(", n) + "a" + strings.Repeat(")", n) }
	for _, text := range []string{strings.Repeat("a OR b ", MaxTerms/2), strings.Repeat("a ", MaxTerms), nested(MaxNesting), strings.Repeat(nested(MaxNesting)+" ", 3)} {
		e, err := Parse(text, Or)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse(e.String(), Or); err != nil || !reflect.DeepEqual(again, e) {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
	for text, want := range map[string]string{
		strings.Repeat("a ", MaxTerms+1):                          "more than 4095 terms",
		nested(MaxNesting + 1):                                    "more than 1000 parentheses",
		strings.Repeat("(a ", 1<<16) + strings.Repeat(")", 1<<16): "more than 1000 parentheses",
	} {
		if _, err := Parse(text, Or); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes: %.300v, want %s", len(text), err, want)
		}
	}
}

// randomQuery draws an expression in the form that Parse gives.
func randomQuery(r *rand.Rand, depth int) Expr {
	if r.IntN(20) == 0 {
		return Expr{Op: All}
	}
	if r.IntN(8) == 0 {
		e := Expr{Op: []Op{Phrase, Near, Ordered}[r.IntN(3)], Distance: uint32(1 + r.IntN(9)), Field: randomField(r)}
		for range 1 + r.IntN(3) {
			one := Expr{Term: []string{"a", "loom", "a b", `"`, "*", "b*", "(", "^2", "~1", `\\`, "日本", "NOT"}[r.IntN(12)]}
			if r.IntN(4) == 0 {
				one.Op = Prefix
			}
			e.Args = append(e.Args, one)
		}
		if r.IntN(4) == 0 {
			e.Weight = r.ExpFloat64() + 0.001
		}
		return e
	}
	if depth == 0 || r.IntN(3) == 0 {
		terms := []string{"a", "loom", "AND", "OR", "NOT", " ", "a b", `"`, `\`, "(x)", "日本", "é\"é", `\"`, "\t", "\xff", "a^2", "-a", "+", "a:b", "a~1", "b?c", "\ufffd", "&&", "||", "!a", "[a", "TO", "b]", "/a/", "10", "10^8", "2*", "ั"}
		tolerant := []string{"loom~", "loom~1,2", "1998~2", "te?t", "*ing", "b*n*", "1?8", `\*x*\?y`, "/b.n(e|d)/", `/\/x/`, "[a TO b]", "{1 TO *]", "[* TO \\[]"}
		e := Expr{Term: terms[r.IntN(len(terms))], Field: randomField(r)}
		if r.IntN(4) == 0 {
			e.Weight = r.ExpFloat64() + 0.001
		}
		if r.IntN(4) == 0 {
			e.Op = Prefix
		} else if r.IntN(4) == 0 {
			e.Op, e.Term = Expand, tolerant[r.IntN(len(tolerant))]
		}
		return e
	}
	e := Expr{Op: []Op{And, Or, Not, Prefer}[r.IntN(4)]}
	for range 2 + r.IntN(3) {
		e.Args = append(e.Args, randomQuery(r, depth-1))
	}
	return e
}

// randomField draws no field most times.
func randomField(r *rand.Rand) string {
	return []string{"", "", "", "title", "a.b", "日本", "_x-1"}[r.IntN(7)]
}

// TestString writes random expressions and reads them again. Expressions that
// differ in nested parentheses alone, such as (a AND b) AND c, stay different.
func TestString(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		e := randomQuery(r, r.IntN(5))
		again, err := Parse(e.String(), Or)
		if err != nil {
			t.Fatalf("%s becomes %s: %v", shape(e), e, err)
		}
		if !reflect.DeepEqual(again, e) {
			t.Fatalf("%s becomes %s, which is %s", shape(e), e, shape(again))
		}
	}
}

// FuzzParse: any text gives an error with a place in it, or a query with the same meaning
// after it is written and read again. EachWord agrees with Parse.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"a AND (b OR c) NOT d", `+a -"b" comp*^2`, "NOT a", "((a)^2", "* -(a", "a ()) *", `\`, "a OR", "10^-8 a^2", "\xff(", "title:bone~1", "", "a && !b || c! && !(d)", "[a TO b}", "y:[1 TO *] [1]", `-/re/ /usr/bin/ /a\//`, `"red lo*"~3^2 -"a (b"`, `+NEAR/3(a b*)^2 ORDERED/0(a) NEAR/x(a)`, `("a)" "\"")`,
		"loom~ loom~2,1^2 (te?t -*ing) +b*n* /(a|b)/^2 [a TO *}", "(/a(b/ a?b*^3 --{a TO b}(x~)", `title:(a b:"c d")^2 +x.y:te?t z:*ing`, "a:(/b(c/ d:/e(/) f:NEAR/2(g h"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text, Or)
		n, bad := 0, error(nil)
		words, bad := EachWord(text, func(part string, weight float64) error {
			if n++; part == "" || !(weight > 0) {
				t.Fatalf("%q: part %q of weight %v", text, part, weight)
			}
			return nil
		})
		if bad != nil && err == nil || words && err != nil && n <= MaxTerms {
			t.Fatalf("%q: %v, but words %v %v", text, err, words, bad)
		}
		if err != nil {
			var s *syntax.Error
			if !errors.As(err, &s) || s.Offset < 0 || s.Offset > len(text) || s.Column() > utf8.RuneCountInString(text)+1 ||
				strings.Count(err.Error(), "\n") != 2 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		e.Leaves(func(leaf Expr) bool {
			if leaf.Op == Expand {
				if _, err := ReadTolerant(leaf.Term); err != nil {
					t.Fatalf("%q: %v", text, err)
				}
			}
			if at := Position(text, &leaf); leaf.Expands() && !strings.HasPrefix(strings.ReplaceAll(text[at:], `\`, ""), strings.ReplaceAll(leaf.Term, `\`, "")) {
				t.Fatalf("%q: %q is not at %d", text, leaf.Term, at)
			}
			return true
		})
		again, err := Parse(e.String(), Or)
		if err != nil || !reflect.DeepEqual(again, e) {
			t.Fatalf("%q is %s, which is %s: %v", text, e, shape(again), err)
		}
		if _, err := Parse(text, And); err != nil {
			t.Fatalf("%q: %v with words joined by AND", text, err)
		}
	})
}
