package querylang

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"heddle/engine/syntax"
)

func words(terms ...string) (all []Expr) {
	for _, t := range terms {
		e := Expr{Term: t}
		if p, ok := strings.CutSuffix(t, "…"); ok {
			e = Expr{Op: Prefix, Term: p}
		}
		all = append(all, e)
	}
	return all
}

// TestPhrases reads phrases and windows at all places of an operand.
func TestPhrases(t *testing.T) {
	red := Expr{Op: Phrase, Args: words("red", "loom")}
	with := func(e Expr, distance uint32, weight float64) Expr {
		e.Distance, e.Weight = distance, weight
		return e
	}
	or := func(args ...Expr) Expr { return Expr{Op: Or, Args: args} }
	for text, want := range map[string]Expr{
		`"red loom"`:                 red,
		` "red  loom" `:              red,
		`"red loom"~3`:               with(red, 3, 0),
		`"red loom"~0`:               red,
		`"red loom"~3^2.5`:           with(red, 3, 2.5),
		`"red loom"^2`:               with(red, 0, 2),
		`("red loom"~1)^2`:           with(red, 1, 2),
		`a "red loom"`:               or(Expr{Term: "a"}, red),
		`"red loom"a`:                or(red, Expr{Term: "a"}),
		`"red loom""red loom"~1(a)`:  or(red, with(red, 1, 0), Expr{Term: "a"}),
		`+"red loom" -"red loom"~2`:  {Op: Not, Args: []Expr{red, with(red, 2, 0)}},
		`NOT "red loom"`:             {Op: Not, Args: []Expr{{Op: All}, red}},
		`"red loom" AND "red loom"`:  {Op: And, Args: []Expr{red, red}},
		`"red lo*"`:                  {Op: Phrase, Args: words("red", "lo…")},
		`"* red* lo\* l**"`:          {Op: Phrase, Args: words("*", "red…", "lo*", "l*…")},
		`"(a NOT b) \"c\\ x:y ~ [1"`: {Op: Phrase, Args: words("(a", "NOT", "b)", `"c\`, "x:y", "~", "[1")},
		`("a)" b)`:                   or(Expr{Op: Phrase, Args: words("a)")}, Expr{Term: "b"}),
		`NEAR/5(a b* c)^2`:           {Op: Near, Args: words("a", "b…", "c"), Distance: 5, Weight: 2},
		`ORDERED/12( a  b )`:         {Op: Ordered, Args: words("a", "b"), Distance: 12},
		`-NEAR/1(a) +b`:              {Op: Not, Args: []Expr{{Term: "b"}, {Op: Near, Args: words("a"), Distance: 1}}},
		`NEAR/5 (a b)`:               or(Expr{Term: "NEAR/5"}, or(words("a", "b")...)),
		`NEAR/x(a b)`:                or(Expr{Term: "NEAR/x"}, or(words("a", "b")...)),
		`\NEAR/5(a b)`:               or(Expr{Term: "NEAR/5"}, or(words("a", "b")...)),
		`near/5(a b) NEAR/5() NEAR/`: or(Expr{Term: "near/5"}, or(words("a", "b")...), Expr{Term: "NEAR/5()"}, Expr{Term: "NEAR/"}),
	} {
		got, err := Parse(text, Or)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s %+v, %v, want %s", text, got, got, err, want)
		}
		if again, err := Parse(got.String(), Or); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%s becomes %s, which is %s, %v", text, got, again, err)
		}
	}
}

func TestPhraseErrors(t *testing.T) {
	for text, want := range map[string]struct {
		column int
		reason string
	}{
		`"red loom`:              {1, "a quote without its partner"},
		`"red\"`:                 {1, "a quote without its partner"},
		`é a"b`:                  {4, "a phrase begins a word"},
		`a ""`:                   {3, "nothing between these signs"},
		`"a b"~`:                 {6, "the slop of a phrase"},
		`"a b"~2.5`:              {7, `the distance "2.5"`},
		`"a b"~-1`:               {7, `the distance "-1"`},
		`"a b"~2147483648`:       {7, `the distance "2147483648"`},
		`"a b"^x`:                {6, `the weight "x"`},
		`NEAR/0(a b)`:            {6, `the distance "0"`},
		`ORDERED/99999999999(a)`: {9, `the distance "99999999999"`},
		`NEAR/2(a (b))`:          {10, "a window has words"},
		`NEAR/2(a "b c")`:        {10, "a window has words"},
		`NEAR/2(a b)^0`:          {12, `the weight "0"`},
	} {
		_, err := Parse(text, Or)
		var s *syntax.Error
		if !errors.As(err, &s) || s.Column() != want.column || !strings.HasPrefix(s.Reason, want.reason) {
			t.Errorf("%s: %v, want column %d: %s", text, err, want.column, want.reason)
		}
	}
	if _, err := Parse(`"`+strings.Repeat("a ", MaxTerms+1)+`"`, Or); err == nil || !strings.Contains(err.Error(), "more than 4095 terms") {
		t.Errorf("a long phrase: %.200v", err)
	}
}
