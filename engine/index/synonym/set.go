package synonym

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"heddle/engine/index/analyze"
	"heddle/engine/index/querylang"
	"heddle/engine/syntax"
)

// Set is the synonyms of an index. It is safe for concurrent use.
type Set struct {
	analyzer *analyze.Analyzer
	groups   map[string][]*group // by the terms of a left side, in the order of the rules
	longest  int                 // most terms of a left side
}

// group is the right side of a rule.
type group struct {
	terms   []string // single terms
	phrases []querylang.Expr
}

// For returns the synonyms of an index by its analysis. Several words on the right need an index with positions.
func (r *Rules) For(a *analyze.Analyzer, positions bool) (*Set, error) {
	s := &Set{analyzer: a, groups: map[string][]*group{}}
	for _, one := range r.all {
		right := &group{}
		for _, to := range one.to {
			if err := right.add(a, to, positions); err != nil {
				return nil, fmt.Errorf("%s: line %d: %w", cmp.Or(r.Name, "synonyms"), one.line, err)
			}
		}
		for _, from := range one.from {
			terms := a.Terms(from)
			if len(terms) == 0 {
				return nil, fmt.Errorf("%s: line %d: the analysis of the index leaves nothing of %s", cmp.Or(r.Name, "synonyms"), one.line, syntax.Quote(from))
			}
			s.longest = max(s.longest, len(terms))
			key := strings.Join(terms, "\x00")
			s.groups[key] = append(s.groups[key], right)
		}
	}
	return s, nil
}

func (g *group) add(a *analyze.Analyzer, text string, positions bool) error {
	terms := a.Terms(text)
	switch {
	case len(terms) == 0:
		return fmt.Errorf("the analysis of the index leaves nothing of %s", syntax.Quote(text))
	case len(terms) == 1:
		g.terms = append(g.terms, terms[0])
		return nil
	case !positions:
		return fmt.Errorf("%s has %d terms and needs the positions of words, which the index does not have: build it with --positions", syntax.Quote(text), len(terms))
	}
	phrase := querylang.Expr{Op: querylang.Phrase}
	for _, word := range strings.Fields(text) {
		phrase.Args = append(phrase.Args, querylang.Expr{Term: word})
	}
	g.phrases = append(g.phrases, phrase)
	return nil
}

// expr is the query for the right sides of a left side: any of their terms, which score as one term, or any of their
// phrases, each once.
func expr(sides []*group, weight float64) querylang.Expr {
	e := querylang.Expr{Op: querylang.Or}
	seen := map[string]bool{}
	once := func(text string) bool {
		found := seen[text]
		seen[text] = true
		return !found
	}
	var quoted []string
	var phrases []querylang.Expr
	for _, g := range sides {
		for _, t := range g.terms {
			if once(t) {
				quoted = append(quoted, strings.ReplaceAll(regexp.QuoteMeta(t), "/", `\/`))
			}
		}
		for _, p := range g.phrases {
			if once(p.String()) {
				p.Weight = weight
				phrases = append(phrases, p)
			}
		}
	}
	if len(quoted) > 0 {
		e.Args = append(e.Args, querylang.Expr{Op: querylang.Expand, Term: "/" + strings.Join(quoted, "|") + "/", Weight: weight})
	}
	e.Args = append(e.Args, phrases...)
	if len(e.Args) == 1 {
		return e.Args[0]
	}
	return e
}

// Rewrite returns a query text with the synonyms of its words. Join, And or Or, joins words without operators, and literal
// says that a text has no operators; the result has some. The longest left side counts; several words of it must be
// neighbours in a list, without signs, operators and weights. Words of phrases and tolerant words have no synonyms.
func (s *Set) Rewrite(text string, literal bool, join querylang.Op) (string, error) {
	if literal {
		e := querylang.Words(text, join)
		e.Args = s.list(e.Args)
		return e.String(), nil
	}
	e, err := querylang.Rewrite(text, join, s.list)
	if err != nil {
		return "", err
	}
	return e.String(), nil
}

// list returns neighbours in a list with synonyms.
func (s *Set) list(args []querylang.Expr) (out []querylang.Expr) {
	for len(args) > 0 {
		e, n := args[0], 1
		var terms []string
		for i, a := range args {
			if a.Op != querylang.Term || a.Field != args[0].Field || i > 0 && (a.Weight != 0 || args[0].Weight != 0) {
				break
			}
			if terms = append(terms, s.analyzer.Terms(a.Term)...); len(terms) > s.longest {
				break
			}
			if g := s.groups[strings.Join(terms, "\x00")]; g != nil {
				e, n = expr(g, args[0].Weight), i+1
				e.Within(args[0].Field)
			}
		}
		out, args = append(out, e), args[n:]
	}
	return out
}
