package predicate

import (
	"testing"
	"unicode/utf8"
)

// matchSlowly tries all lengths of every %.
func matchSlowly(p pattern, s string) bool {
	if len(p) == 0 {
		return s == ""
	}
	if p[0].many {
		for i := 0; ; {
			if matchSlowly(p[1:], s[i:]) {
				return true
			}
			if i == len(s) {
				return false
			}
			_, n := utf8.DecodeRuneInString(s[i:])
			i += n
		}
	}
	n := p.take(0, s)
	return n > 0 && matchSlowly(p[1:], s[n:])
}

func FuzzLike(f *testing.F) {
	f.Add("a%b_", "", "axxbc")
	f.Add("!%%", "!", "%x")
	f.Add("%\xe9_%", "x", "a\xe9é")
	f.Fuzz(func(t *testing.T, text, escape, s string) {
		if len(text) > 8 || len(s) > 16 {
			return
		}
		p, err := parsePattern(text, escape)
		if err != nil {
			return
		}
		if got, want := p.matches(s), matchSlowly(p, s); got != want {
			t.Errorf("%q LIKE %q ESCAPE %q: %v", s, text, escape, got)
		}
	})
}

func TestLike(t *testing.T) {
	for _, c := range []struct {
		text, escape, s string
		want            bool
	}{
		{"", "", "", true}, {"", "", "a", false}, {"%", "", "", true}, {"a%", "", "abc", true}, {"a%%", "", "a", true}, {"a%c", "", "abcd", false}, {"a_c", "", "aéc", true},
		{"%b%b", "", "abab", true}, {"_%_", "", "a", false}, {"!_x", "!", "_x", true}, {"!_x", "!", "ax", false}, {"!!", "!", "!", true},
		{"%ab%ba%", "", "xxabxba", true}, {"%ab%ba%", "", "xxaba", false}, {"\xff_", "", "\xff\xfe", true},
	} {
		p, err := parsePattern(c.text, c.escape)
		if got := p.matches(c.s); err != nil || got != c.want {
			t.Errorf("%q LIKE %q ESCAPE %q: %v, %v", c.s, c.text, c.escape, got, err)
		}
	}
	if _, err := parsePattern("a!", "!"); err == nil {
		t.Error("a pattern ends in its escape character")
	}
	if got := (pattern{{text: "a"}, {text: "b"}, {one: true}}).prefix(); got != "ab" {
		t.Errorf("prefix %q", got)
	}
}
