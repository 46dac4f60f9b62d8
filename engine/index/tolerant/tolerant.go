// Package tolerant finds the terms of a dictionary that a tolerant word stands for: similar words, wildcards,
// regular expressions and ranges, as automata that walk over the terms in ascending order.
package tolerant

import (
	"bytes"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/blevesearch/vellum/levenshtein"

	"heddle/engine/index/querylang"
)

// automaton reads a term byte by byte. State 0 has no way to a match.
type automaton interface {
	Start() int
	IsMatch(state int) bool
	CanMatch(state int) bool
	Accept(state int, b byte) int
}

// Words is the set of terms that a tolerant word stands for. One goroutine uses it at a time.
type Words struct {
	automaton
	similar string // of a similar word: the word
	fixed   string // and its first characters, which all terms begin with
	edits   *levenshtein.DFA
	finite  []string // all words of a short expression, ascending; nil: not known
}

// builders make automata of one and two edits.
var builders = [querylang.MostEdits]func() *levenshtein.LevenshteinAutomatonBuilder{builder(1), builder(2)}

func builder(edits uint8) func() *levenshtein.LevenshteinAutomatonBuilder {
	return sync.OnceValue(func() *levenshtein.LevenshteinAutomatonBuilder {
		b, err := levenshtein.NewLevenshteinAutomatonBuilder(edits, true)
		if err != nil { // not reached: the numbers of edits are constants
			panic(err)
		}
		return b
	})
}

// New returns the terms that a tolerant word stands for. The characters of its words must be as in terms. An edit
// inserts, removes or replaces a character, or exchanges two neighbours, each at most once in a place. As in Lucene, a
// similar word of at most as many characters as terms have in common with it stands for itself alone. The error of a word
// that needs an automaton of too many states says so.
func New(t querylang.Tolerant) (*Words, error) {
	switch t.Form {
	case querylang.Similar:
		return newSimilar(t.Words[0], t.Edits, max(t.Fixed, 0))
	case querylang.Range:
		return &Words{automaton: interval{t.Words[0], t.Words[1], t.Open}}, nil
	case querylang.Regexp:
		return newExpression(t.Words[0])
	}
	var b strings.Builder
	for i, text := range t.Words {
		b.WriteString(regexp.QuoteMeta(string([]rune(text)))) // valid UTF-8
		if i < len(t.Wild) {
			b.WriteString(strings.NewReplacer("*", ".*", "?", ".").Replace(t.Wild[i]))
		}
	}
	return newExpression("(?s)" + b.String())
}

// mostSimilar bounds the length of a word for similar words, in bytes.
const mostSimilar = 1 << 10

func newSimilar(word string, edits, fixed int) (*Words, error) {
	tooLong := fmt.Errorf("similar words of a word of %d characters need too many states", utf8.RuneCountInString(word))
	if len(word) > mostSimilar {
		return nil, tooLong
	}
	n := 0
	for range fixed {
		_, size := utf8.DecodeRuneInString(word[n:])
		n += size
	}
	if n > 0 && n == len(word) {
		return &Words{automaton: interval{low: word, high: word}, finite: []string{word}}, nil
	}
	dfa, err := builders[edits-1]().BuildDfa(word[n:], uint8(edits))
	if err != nil {
		return nil, tooLong
	}
	return &Words{automaton: behind{word[:n], dfa}, similar: word, fixed: word[:n], edits: dfa}, nil
}

// Err returns an error if an expression needs so many states that Terms and Match lack terms.
func (w *Words) Err() error {
	if e, ok := w.automaton.(*machine); ok {
		return e.err
	}
	return nil
}

// Boost is the factor of the weight of a term, as in Lucene: of a similar word 1 less its edits over the number of
// characters of the shorter word, but at least 0, else 1.
func (w *Words) Boost(term string) float64 {
	if w.edits == nil {
		return 1
	}
	_, edits := w.edits.MatchAndDistance(strings.TrimPrefix(term, w.fixed))
	shorter := min(utf8.RuneCountInString(term), utf8.RuneCountInString(w.similar))
	return 1 - min(1, float64(edits)/float64(max(shorter, 1)))
}

// Match tells whether a term is in the set.
func (w *Words) Match(term string) bool {
	state := w.Start()
	for i := 0; i < len(term) && w.CanMatch(state); i++ {
		state = w.Accept(state, term[i])
	}
	return w.CanMatch(state) && w.IsMatch(state)
}

// patience is the number of terms without a match that Terms reads before it looks up the next term that may match.
const patience = 32

// Terms yields the terms of the set among the terms of a dictionary, ascending. From yields the terms of the dictionary
// that are not below a string, ascending; a term is valid until the next.
func (w *Words) Terms(from func(string) iter.Seq[[]byte]) iter.Seq[string] {
	if w.finite != nil {
		return func(yield func(string) bool) {
			for _, word := range w.finite {
				for term := range from(word) {
					if string(term) == word && !yield(word) {
						return
					}
					break
				}
			}
		}
	}
	return func(yield func(string) bool) {
		states := []int{w.Start()} // states[i] is the state behind i bytes of last
		var last []byte
		for next, more := "", true; more; {
			more = false
			vain := 0
			for term := range from(next) {
				n := common(last, term)
				last = append(last[:n], term[n:]...)
				states = states[:min(n+1, len(states))]
				for state := states[len(states)-1]; len(states) <= len(term) && w.CanMatch(state); {
					state = w.Accept(state, term[len(states)-1])
					states = append(states, state)
				}
				dead := !w.CanMatch(states[len(states)-1])
				if len(states) == len(term)+1 && !dead && w.IsMatch(states[len(term)]) {
					vain = 0
					if !yield(string(term)) {
						return
					}
				} else if vain++; vain >= patience && dead {
					if w.Err() != nil {
						return
					}
					next = after(term[:len(states)-1])
					more = next != ""
					break
				}
			}
		}
	}
}

// common is the length of the beginning that two terms have in common.
func common(a, b []byte) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// after returns the least string behind all strings that begin with prefix; "" without one.
func after(prefix []byte) string {
	prefix = bytes.TrimRight(prefix, "\xff")
	if len(prefix) == 0 {
		return ""
	}
	next := []byte(string(prefix))
	next[len(next)-1]++
	return string(next)
}
