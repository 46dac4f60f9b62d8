package predicate

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"heddle/engine/plan"
	"heddle/engine/syntax"
	"heddle/engine/table/column"
)

// structure writes a predicate with all its parentheses.
func structure(n *Node) string {
	if n.Op == And || n.Op == Or || n.Op == Not {
		var parts []string
		for i := range n.Args {
			parts = append(parts, structure(&n.Args[i]))
		}
		return []string{And: "&", Or: "|", Not: "-"}[n.Op] + "(" + strings.Join(parts, " ") + ")"
	}
	return Expr{Root: *n}.String()
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"a = 1":                              "a = 1",
		" a==1 ":                             "a = 1",
		"a!=1":                               "a <> 1",
		"a <> 1":                             "a <> 1",
		"a<1":                                "a < 1",
		"a<=1":                               "a <= 1",
		"a>1":                                "a > 1",
		"a>=-1":                              "a >= -1",
		"60 <= delay":                        "delay >= 60",
		"60 < delay":                         "delay > 60",
		"'x' = c":                            "c = 'x'",
		"1 <> a":                             "a <> 1",
		"a = +1.5e-3":                        "a = +1.5e-3",
		"a = .5":                             "a = .5",
		"a = 5.":                             "a = 5.",
		"a = 1E9":                            "a = 1E9",
		"a = 'it''s'":                        "a = 'it''s'",
		"a = ''":                             "a = ''",
		"a = '\"'":                           "a = '\"'",
		`"b c" = 1`:                          `"b c" = 1`,
		`"" = 1`:                             `"" = 1`,
		`"a""b" = 1`:                         `"a""b" = 1`,
		`"a" = 1`:                            "a = 1",
		`"not" = 1`:                          `"not" = 1`,
		`"9" = 1`:                            `"9" = 1`,
		"_x1 = 1":                            "_x1 = 1",
		"größe >= 日本":                        "größe >= 日本",
		`a = "B c"`:                          `a = "B c"`,
		"a -- all\n= /* b */ 1 /**/--":       "a = 1",
		"a LIKE 'x%' AND b":                  "&(a LIKE 'x%' b = TRUE)",
		"a not like 'x!%' escape '!'":        "-(a LIKE 'x!%' ESCAPE '!')",
		"a = DATE '2001-02-03'":              "a = TIMESTAMP '2001-02-03'",
		"date < timestamp'2001-02-03 04:05'": "date < TIMESTAMP '2001-02-03 04:05'",
		"Date '2001-02-03' <= timestamp":     "timestamp >= TIMESTAMP '2001-02-03'",
		"a IN (DATE '2001-02-03', NULL)":     "a IN (TIMESTAMP '2001-02-03', NULL)",
		"a IS TRUE":                          "(a = TRUE) IS TRUE",
		"NOT a IS NOT FALSE":                 "-(-((a = TRUE) IS FALSE))",
		"(a = 1 OR b) IS TRUE AND c IS NULL": "&((a = 1 OR b = TRUE) IS TRUE c IS NULL)",
		"a = 1 IS FALSE":                     "(a = 1) IS FALSE",
		"TRUE IS TRUE":                       "(TRUE) IS TRUE",
		"größe >= '日本'":                      "größe >= '日本'",
		"a = true":                           "a = TRUE",
		"a = False":                          "a = FALSE",
		"a <> null":                          "a <> NULL",
		"a BETWEEN 1 AND 5":                  "a BETWEEN 1 AND 5",
		"a between 1 and 5 and b = 2":        "&(a BETWEEN 1 AND 5 b = 2)",
		"a NOT BETWEEN 'x' AND NULL":         "-(a BETWEEN 'x' AND NULL)",
		"a IN (1)":                           "a IN (1)",
		"a in(1,2 , 'x',null)":               "a IN (1, 2, 'x', NULL)",
		"a NOT IN (1, 2)":                    "-(a IN (1, 2))",
		"a IS NULL":                          "a IS NULL",
		"a is not null":                      "-(a IS NULL)",
		"a":                                  "a = TRUE",
		"NOT a":                              "-(a = TRUE)",
		"a OR NOT b":                         "|(a = TRUE -(b = TRUE))",
		"TRUE":                               "TRUE",
		"null or true":                       "|(NULL TRUE)",
		"TRUE = a":                           "a = TRUE",
		"NOT a = 1 AND b = 2":                "&(-(a = 1) b = 2)",
		"NOT NOT a = 1":                      "-(-(a = 1))",
		"NOT (a = 1 AND b = 2)":              "-(&(a = 1 b = 2))",
		"a = 1 OR b = 2 AND c = 3":           "|(a = 1 &(b = 2 c = 3))",
		"(a = 1 OR b = 2) AND c = 3":         "&(|(a = 1 b = 2) c = 3)",
		"a = 1 AND b = 2 AND c = 3":          "&(a = 1 b = 2 c = 3)",
		"(a = 1 AND b = 2) AND c = 3":        "&(&(a = 1 b = 2) c = 3)",
		"((a = 1))":                          "a = 1",
		"a=1and b=2":                         "",
		"a=1 and(b=2)or(c=3)":                "|(&(a = 1 b = 2) c = 3)",
		"a\n>=\n1\n":                         "a >= 1",
		"a = '\xff'":                         "a = '\xff'",
		"a>-1":                               "a > -1",
		"delay >= 60 AND distance < 500":     "&(delay >= 60 distance < 500)",
		"a BETWEEN 1 AND 2 OR NOT b IS NULL": "|(a BETWEEN 1 AND 2 -(b IS NULL))",
	} {
		e, err := Parse(text)
		if want == "" {
			if err == nil {
				t.Errorf("%q: %s", text, e)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := structure(&e.Root); got != want || e.Text != text {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for text, want := range map[string]string{ // column and the start of the reason
		"":                            "1 a column, a value, NOT or ( is expected here",
		"  ":                          "3 a column, a value, NOT or ( is expected here",
		"a =":                         "4 a value is expected here",
		"a IN (b)":                    "7 a value is expected here, and this is a column: a text goes in 'single quotes'",
		"(rid) < 5":                   "1 parentheses contain conditions: a column or a value that is compared stands without them",
		"a AND (b) IN (1)":            "7 parentheses contain conditions",
		"a IS TRUE IS TRUE":           "11 AND, OR or the end is expected here",
		"a LIKE b":                    "8 a pattern in 'single quotes' is expected here",
		"a LIKE 'x' ESCAPE 'ab'":      "19 one character in 'single quotes' is expected here",
		"5 LIKE 'x'":                  "1 a column is expected before LIKE",
		"a = /* 1":                    "5 a comment that does not end",
		"a = DATE '2001-02-03 04:05'": "10 a DATE is a day such as '2001-02-03'",
		"(a = 1) IS NULL":             "12 TRUE or FALSE is expected here",
		"1 = 1":                       "5 a column is expected here",
		"1 < a < 5":                   "7 comparisons do not go on",
		"a = 1 = 2":                   "7 comparisons do not go on",
		"5":                           "1 a value that is compared with nothing",
		"é = 1 AND 'x'":               "11 a value that is compared with nothing",
		"a = 1 b = 2":                 "7 AND, OR or the end is expected here",
		"a = 1,":                      "6 AND, OR or the end is expected here",
		"a = 1)":                      "6 a ) without its (",
		"(a = 1":                      "1 a ( without its )",
		"(a = 1 b)":                   "8 AND, OR or the end is expected here",
		"a = 1 AND (b = 2 OR ":        "21 a column, a value, NOT or ( is expected here",
		"()":                          "1 nothing between these parentheses",
		"a AND AND b":                 "7 a column, a value, NOT or ( is expected here",
		"OR a":                        "1 a column, a value, NOT or ( is expected here",
		"NOT":                         "4 a column, a value, NOT or ( is expected here",
		"a NOT = 1":                   "7 BETWEEN, IN, LIKE or CONTAINS is expected here",
		"a IS 5":                      "6 NULL, TRUE or FALSE is expected here",
		"a IS NOT":                    "9 NULL, TRUE or FALSE is expected here",
		"a BETWEEN 1":                 "12 AND is expected here",
		"a BETWEEN 1 OR 2":            "13 AND is expected here",
		"a BETWEEN AND 2":             "11 a value is expected here",
		"a IN 1":                      "6 ( is expected here",
		"not = 1":                     "5 a column, a value, NOT or ( is expected here: a column whose name is a keyword goes in \"double quotes\"",
		"a = 1 AND in > 2":            "11 a column, a value, NOT or ( is expected here: a column whose name",
		"a IN ()":                     "7 a value is expected here",
		"a IN (1 2)":                  "9 a comma or a ) is expected here",
		"a IN (1,":                    "9 a value is expected here",
		"5 IN (a)":                    "1 a column is expected before IN",
		"5 IS NULL":                   "1 a column is expected before IS",
		"NULL IS NULL":                "1 a column is expected before IS",
		"1 BETWEEN a AND b":           "1 a column is expected before BETWEEN",
		"a => 1":                      "3 => is no comparison",
		"a ! 1":                       "3 ! is no comparison",
		"a = 'x":                      "5 a quote that does not end",
		`"a`:                          "1 a quote that does not end",
		"a = 'x''":                    "5 a quote that does not end",
		"a = - 1":                     "5 a number is expected here",
		"a = .":                       "5 a number is expected here",
		"a = 1e":                      "5 a number whose exponent has no digits",
		"a = 1e+":                     "5 a number whose exponent has no digits",
		"a = 60min":                   "5 a number that goes on with other characters",
		"a = 1.2.3":                   "5 a number that goes on with other characters",
		"9a = 1":                      "1 a number that goes on with other characters",
		"a-b = 1":                     "2 a number is expected here",
		"a; b":                        "2 a character that has no meaning here",
		"日本 = 1 AND `x` = 2":          "12 a character that has no meaning here",
		"a = 1 AND \xff":              "11 a character that has no meaning here",
		"a = 'x' AND b LIKE 'y":       "20 a quote that does not end",
	} {
		_, err := Parse(text)
		var s *syntax.Error
		if !errors.As(err, &s) {
			t.Errorf("%q: %v", text, err)
		} else if got := fmt.Sprint(s.Column(), " ", s.Reason); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	_, err := Parse("é = 1 AND b =")
	if want := "column 14: a value is expected here\n  é = 1 AND b =\n               ^"; err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
}

// TestNesting has predicates as deep as there may be, and deeper ones, and long ones.
func TestNesting(t *testing.T) {
	nested := func(open string, n int) string {
		return strings.Repeat(open, n) + "a = 1" + strings.Repeat(")", n*strings.Count(open, "("))
	}
	for _, text := range []string{
		nested("(", MaxNesting), nested("NOT ", MaxNesting), nested("NOT (", MaxNesting/2),
		nested("(", MaxNesting) + " AND " + nested("NOT ", MaxNesting),
		"a IN (1" + strings.Repeat(", 2", 20000) + ")", "a = 1" + strings.Repeat(" OR a = 2", 20000),
	} {
		e, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse(e.String()); err != nil || structure(&again.Root) != structure(&e.Root) {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
	for _, text := range []string{nested("(", MaxNesting+1), nested("NOT ", MaxNesting+1), strings.Repeat("(", 1<<16), strings.Repeat("NOT ", 1<<14), strings.Repeat("a AND (", 1<<14)} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), "more than 1000 parentheses and NOTs") {
			t.Errorf("%d bytes: %.200v", len(text), err)
		}
	}
}

// forget drops the offsets.
func forget(n *Node) *Node {
	n.At = 0
	for i := range n.Values {
		n.Values[i].At = 0
	}
	for i := range n.Args {
		forget(&n.Args[i])
	}
	return n
}

// FuzzParse: any text gives an error with a place in it, or a predicate with the same
// meaning after it is written and read again.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"delay >= 60 AND distance < 500 AND NOT carrier IN ('AA', 'DL')", `"b c" BETWEEN -1e3 AND .5 OR x IS NOT NULL`,
		"(a OR NOT NOT b) AND 'it''s' <> c", "TRUE or null", "((a", "a = '", "1 < a < 2", "\xff", "ıs = 1", "٣ = 3", "",
	} {
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
		if err != nil || !reflect.DeepEqual(forget(&again.Root), forget(&e.Root)) {
			t.Fatalf("%q is %s, which is %s: %v", text, structure(&e.Root), structure(&again.Root), err)
		}
	})
}

// TestParseUntil ends the reading and the compilation of a long predicate.
func TestParseUntil(t *testing.T) {
	stop := errors.New("stop")
	where := "a IN (1" + strings.Repeat(",2", 5000) + ")"
	for calls, want := range map[int]error{1: stop, 5: stop, 12: stop, 1000: nil} {
		ended := func() error {
			if calls--; calls == 0 {
				return stop
			}
			return nil
		}
		e, err := ParseUntil(where, ended)
		if err == nil {
			_, err = Compile(e, []column.Column{{Name: "a", Type: column.Int}}, 1, &plan.SelectBatch{})
		}
		if err != want {
			t.Errorf("%v, want %v", err, want)
		}
	}
}
