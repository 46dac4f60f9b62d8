package coordinator

import (
	"context"

	"heddle/engine/index/analyze"
	"heddle/engine/index/bm25"
	"heddle/engine/index/querylang"
)

// text is a text of a query, whose analysis depends on its form.
type text struct {
	text   string
	form   form
	fields string // query.Options.Fields; empty for terms
}

type form uint8

const (
	written form = iota // in the query language
	literal
	term // terms of the index, without analysis
)

// known is the analysis of a text, with the document frequencies of the whole.
type known struct {
	terms []string // the terms: for plain in the order of the text, else ascending and each once
	df    []uint64
	plain bool // a query of these terms, each with weight 1, is the same
	err   error
	many  bool // err says that the text stands for too many terms
}

// appendTexts appends the texts whose terms a query needs: its own, or the leaves of its expression with prefixes or
// tolerant words.
func appendTexts(all []text, q *Query, e *querylang.Expr) []text {
	if q.Text == "" {
		for _, t := range q.Terms {
			all = append(all, text{t, term, ""})
		}
		return all
	}
	if q.Literal {
		return append(all, text{q.Text, literal, q.Fields})
	}
	if e == nil {
		return append(all, text{q.Text, written, q.Fields})
	}
	e.Leaves(func(leaf querylang.Expr) bool {
		all = append(all, text{leafText(leaf, q), written, q.Fields})
		return true
	})
	return all
}

// facts are the statistics of the whole that queries need.
type facts struct {
	docs, length uint64
	fields       []bm25.FieldStatistics
	known        []*known // known terms of all queries, one query after the other
	ends         []int    // by query: where its terms end in known
}

// of returns the texts of query i.
func (f *facts) of(i int) []*known {
	from := 0
	if i > 0 {
		from = f.ends[i-1]
	}
	return f.known[from:f.ends[i]]
}

// facts returns the statistics of the whole for queries; of a partial call, as far as the shards
// that answer know them. Queries that need none have no texts; needs nil: all need them. Of each query e has its expression
// (expanding).
func (r *run) facts(ctx context.Context, qs []Query, e []*querylang.Expr, needs func(i int) bool) (*facts, error) {
	f := &facts{ends: make([]int, len(qs))}
	all, none := make([]text, 0, len(qs)), true
	for i := range qs {
		if needs == nil || needs(i) {
			all, none = appendTexts(all, &qs[i], e[i]), false
		}
		f.ends[i] = len(all)
	}
	f.known = make([]*known, len(all))
	t := &r.terms
	fresh := &terms{known: map[text]*known{}}
	t.mu.RLock()
	loaded, analyzer := t.loaded, t.analyzer
	f.docs, f.length, f.fields, fresh.analyzer = t.docs, t.length, t.fields, t.analyzer
	var lack []text
	var tokens *analyze.Tokenizer
	for i, k := range all {
		if f.known[i] = t.known[k]; f.known[i] != nil || fresh.known[k] != nil {
			continue
		}
		if tokens == nil && analyzer != nil {
			tokens = analyzer.Tokenizer()
		}
		own := k.analyse(tokens)
		if own == nil {
			lack = append(lack, k)
			continue
		}
		fresh.known[k] = own
		for _, word := range own.terms {
			one := text{word, term, ""}
			if known := t.known[one]; known != nil {
				fresh.known[one] = known
			} else {
				lack = append(lack, one)
			}
		}
	}
	t.mu.RUnlock()
	if len(lack) > 0 || !loaded && !none {
		if err := r.load(ctx, lack, analyzer == nil, fresh); err != nil {
			return nil, err
		}
	}
	for k, own := range fresh.known {
		if k.form != term && own.df == nil { // analysed here
			for _, word := range own.terms {
				own.df = append(own.df, fresh.known[text{word, term, ""}].df[0])
			}
		}
	}
	if len(r.missing) == 0 && (fresh.loaded || len(fresh.known) > 0) {
		t.add(fresh, mostTerms)
	}
	if !loaded {
		f.docs, f.length, f.fields = fresh.docs, fresh.length, fresh.fields
	}
	for i, k := range all {
		if f.known[i] == nil {
			f.known[i] = fresh.known[k]
		}
	}
	return f, nil
}

// mostOwn bounds the texts that the coordinator analyses, in bytes. Nodes have limits of their own
// for long ones.
const mostOwn = 4096

// analyse returns the terms of a text of plain words; nil if shards must analyse it.
func (k text) analyse(tokens *analyze.Tokenizer) *known {
	if tokens == nil || k.form == term || len(k.text) > mostOwn {
		return nil
	}
	out := &known{plain: true}
	each := func(part string) {
		for token := range tokens.Tokens([]byte(part)) {
			out.terms = append(out.terms, string(token.Term))
		}
	}
	if k.form == literal {
		each(k.text)
		return out
	}
	if !plainWords(k.text, each) {
		return nil
	}
	return out
}

// plainWords calls each with the words of a text, and reports whether it is a list of words of weight 1.
func plainWords(text string, each func(word string)) bool {
	boosted := false
	words, err := querylang.EachWord(text, func(part string, weight float64) error {
		boosted = boosted || weight != 1
		each(part)
		return nil
	})
	return words && err == nil && !boosted
}

// plain reports whether a text is a list of words of weight 1.
func (k text) plain() bool {
	return k.form != written || plainWords(k.text, func(string) {})
}
