package tolerant

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"heddle/engine/index/querylang"
)

// scripts are few letters of five scripts each, so that words are often similar.
var scripts = []string{"abc", "äßé", "жшя", "日本語", "אבג", "a-.1", "🜁🜂b"}

func words(t *rapid.T) *rapid.Generator[string] {
	letters := []rune(rapid.SampledFrom(scripts).Draw(t, "script"))
	return rapid.StringOfN(rapid.SampledFrom(letters), 0, 7, -1)
}

// distance is the number of edits between two words: the matrix of Damerau and Levenshtein, in which no part is
// edited twice.
func distance(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j-1], d[i-1][j], d[i][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

// plainly tells whether a term is one of a tolerant word, and its boost.
func plainly(w querylang.Tolerant, term string) (bool, float64) {
	switch w.Form {
	case querylang.Similar:
		word, own := []rune(w.Words[0]), []rune(term)
		n := min(max(w.Fixed, 0), len(word))
		if len(own) < n || !slices.Equal(own[:n], word[:n]) {
			return false, 0
		}
		if n > 0 && n == len(word) {
			return slices.Equal(own, word), 1
		}
		d := distance(word[n:], own[n:])
		return d <= w.Edits, max(0, 1-float64(d)/float64(max(min(len(word), len(own)), 1)))
	case querylang.Range:
		low, high := w.Words[0], w.Words[1]
		return (low == "" || term > low || term == low && !w.Open[0]) && (high == "" || term < high || term == high && !w.Open[1]), 1
	case querylang.Regexp:
		return regexp.MustCompile(`^(?:` + w.Words[0] + `)$`).MatchString(term), 1
	}
	expr := ""
	for i, text := range w.Words {
		if expr += regexp.QuoteMeta(text); i < len(w.Wild) {
			for _, c := range w.Wild[i] {
				expr += map[rune]string{'*': ".*", '?': "."}[c]
			}
		}
	}
	return regexp.MustCompile(`(?s)^(?:` + expr + `)$`).MatchString(term), 1
}

// from is a dictionary.
func from(terms []string) func(string) iter.Seq[[]byte] {
	return func(first string) iter.Seq[[]byte] {
		return func(yield func([]byte) bool) {
			at, _ := slices.BinarySearch(terms, first)
			for _, term := range terms[at:] {
				b := []byte(term)
				more := yield(b)
				clear(b) // it is valid until here
				if !more {
					return
				}
			}
		}
	}
}

// expressions are regular expressions whose letters are replaced by the letters of a script.
var expressions = []string{"x*", "x.z", "(x|yz)+", "[x-z]{2,3}", "[^x]+?", "(?i)xY.*", ".*?z", "x{0}|y", "(x*)*y", `\x{78}|y?`, "()", "x|", "x*?y+?", "xy|x|yz?|zz", "(x|y)(z|)[xz]"}

func tolerantWord(t *rapid.T, word *rapid.Generator[string]) querylang.Tolerant {
	w := querylang.Tolerant{Form: querylang.Form(rapid.IntRange(0, 3).Draw(t, "form")), Words: []string{word.Draw(t, "word")}}
	switch w.Form {
	case querylang.Similar:
		w.Edits, w.Fixed = rapid.IntRange(1, 2).Draw(t, "edits"), rapid.IntRange(-1, 3).Draw(t, "fixed")
	case querylang.Range:
		w.Words = append(w.Words, word.Draw(t, "high"))
		w.Open = [2]bool{rapid.Bool().Draw(t, "above"), rapid.Bool().Draw(t, "below")}
	case querylang.Regexp:
		three := []rune(w.Words[0] + "abc")
		var pairs []string
		for i, x := range "xyz" {
			pairs = append(pairs, string(x), regexp.QuoteMeta(string(three[i])))
		}
		w.Words[0] = rapid.SampledFrom(expressions).Draw(t, "expression")
		if slices.IsSorted(three[:3]) && !strings.ContainsAny(w.Words[0], `\i`) && !slices.Contains(three[:3], '-') {
			w.Words[0] = strings.NewReplacer(pairs...).Replace(w.Words[0])
		}
	case querylang.Wildcard:
		for range rapid.IntRange(1, 3).Draw(t, "wildcards") {
			w.Wild = append(w.Wild, rapid.SampledFrom([]string{"*", "?", "??", "?*"}).Draw(t, "wild"))
			w.Words = append(w.Words, rapid.StringOfN(rapid.SampledFrom([]rune(w.Words[0]+"a")), 0, 2, -1).Draw(t, "text"))
		}
		w.Words[0] = string([]rune(w.Words[0])[:min(1, utf8.RuneCountInString(w.Words[0]))])
	}
	return w
}

// TestTerms compares the automata with a plain evaluator over the dictionary.
func TestTerms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := words(t)
		w := tolerantWord(t, word)
		terms := slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(word, 0, 200).Draw(t, "terms"))))
		set, err := New(w)
		if err != nil {
			t.Fatalf("%v: %v", w, err)
		}
		var want []string
		for _, term := range terms {
			there, boost := plainly(w, term)
			if set.Match(term) != there {
				t.Fatalf("%v: Match(%q) = %v", w, term, !there)
			}
			if there {
				want = append(want, term)
				if got := set.Boost(term); got != boost {
					t.Fatalf("%v: boost %v of %q, want %v", w, got, term, boost)
				}
			}
		}
		if got := slices.Collect(set.Terms(from(terms))); !slices.Equal(got, want) {
			t.Fatalf("%v of %q: %q, want %q", w, terms, got, want)
		}
	})
}

// TestSkip reads few of many terms.
func TestSkip(t *testing.T) {
	var terms []string
	for i := range 100_000 {
		terms = append(terms, fmt.Sprintf("%05d", i))
	}
	read := 0
	counted := func(first string) iter.Seq[[]byte] {
		return func(yield func([]byte) bool) {
			for b := range from(terms)(first) {
				if read++; !yield(b) {
					return
				}
			}
		}
	}
	for w, want := range map[string]int{"01234~1": 46 + 10, "[50000 TO 50009]": 10, "/12.../": 1000, "*00000": 1, "99999~1,4": 10} {
		parsed, err := querylang.ReadTolerant(w)
		if err != nil {
			t.Fatal(err)
		}
		set, err := New(parsed)
		if err != nil {
			t.Fatal(err)
		}
		read = 0
		n := 0
		for range set.Terms(counted) {
			n++
		}
		if w != "01234~1" && n != want {
			t.Errorf("%s: %d terms, want %d", w, n, want)
		}
		if w != "*00000" && read > 12*want+20_000 {
			t.Errorf("%s: %d terms read", w, read)
		}
	}
}

// TestLarge: expressions and words whose automata would have too many states are errors, in bounded time.
func TestLarge(t *testing.T) {
	var terms []string
	for i := range 1 << 14 {
		terms = append(terms, strings.NewReplacer("0", "a", "1", "b").Replace(fmt.Sprintf("%014b%014b", i, i)))
	}
	for text, large := range map[string]bool{"/.*a.{15}/": true, "/.*(a|b{2}).{300}/": false, "/(.{1,30}){30}a/": false, "/((x{9}){9}){9}y/": false, "*a*?b*a??????": false, strings.Repeat("abcdefghij", 400) + "~2": true, strings.Repeat("?*", 2000) + "a": true} {
		w, err := querylang.ReadTolerant(text)
		if err != nil {
			t.Fatal(err)
		}
		set, err := New(w)
		if err == nil {
			for range set.Terms(from(terms)) {
			}
			err = set.Err()
		}
		if (err != nil) != large || large && !strings.Contains(err.Error(), "too many states") {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}
