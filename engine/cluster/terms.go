package cluster

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/index/analyze"
	"heddle/engine/index/querylang"
)

// terms knows the terms of texts and the statistics of the whole, for one epoch. Each text and
// term costs the shards one request.
type terms struct {
	mu           sync.RWMutex
	loaded       bool
	docs, length uint64
	analyzer     *analyze.Analyzer // nil: only shards analyse
	known        map[text]*known
	size         int // terms of known
}

// text is a text of a query, whose analysis depends on its form.
type text struct {
	text string
	form form
}

type form uint8

const (
	written form = iota // in the query language
	literal
	term // of the index, without analysis
)

// known is the analysis of a text, with the document frequencies of the whole.
type known struct {
	terms []string // of plain in the order of the text, else ascending and each once
	df    []uint64
	plain bool // a query of these terms, each with weight 1, is the same
	err   error
}

// mostTerms bounds the terms, and the texts, that a coordinator keeps of an epoch.
const mostTerms = 1 << 18

// appendTexts appends the texts whose terms a query needs: its own, and the prefixes that it
// excludes.
func appendTexts(all []text, q *engine.Query) []text {
	if q.Text == "" {
		for _, t := range q.Terms {
			all = append(all, text{t, term})
		}
		return all
	}
	if q.Literal {
		return append(all, text{q.Text, literal})
	}
	all = append(all, text{q.Text, written})
	e := prefixed(q)
	if e == nil {
		return all
	}
	e.Leaves(func(leaf querylang.Expr) bool {
		if leaf.Op == querylang.Prefix {
			leaf.Weight = 0
			all = append(all, text{leaf.String(), written})
		}
		return true
	})
	return all
}

// prefixed returns the expression of a query that may have prefixes; nil for other queries.
func prefixed(q *engine.Query) *querylang.Expr {
	if q.Literal || !strings.Contains(q.Text, "*") {
		return nil
	}
	e, _ := querylang.Read(q.Text, querylang.Or) // nil for a wrong text
	return e
}

// errPrefix is the error of a query whose scale would depend on the terms of each shard.
var errPrefix = &engine.Error{Code: engine.Unsupported, Op: "search",
	Err: errors.New("a prefix has no scores with statistics of the client on a cluster: ask for the terms of the prefix, or omit the statistics")}

// scoresPrefix reports whether a prefix adds to the scores of a query.
func scoresPrefix(q *engine.Query) bool {
	e := prefixed(q)
	return e != nil && scored(e)
}

func scored(e *querylang.Expr) bool {
	args := e.Args
	if e.Op == querylang.Not {
		args = args[:1] // the others are excluded
	}
	for i := range args {
		if scored(&args[i]) {
			return true
		}
	}
	return e.Op == querylang.Prefix
}

// facts are the statistics of the whole that queries need.
type facts struct {
	docs, length uint64
	known        []*known // of all queries, one after the other
	ends         []int    // in known, by query
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
// that answer know them. Queries that need none have no texts.
func (r *reach) facts(ctx context.Context, qs []engine.Query, needs func(*engine.Query) bool) (*facts, error) {
	f := &facts{ends: make([]int, len(qs))}
	all, none := make([]text, 0, len(qs)), true
	for i := range qs {
		if needs(&qs[i]) {
			all, none = appendTexts(all, &qs[i]), false
		}
		f.ends[i] = len(all)
	}
	f.known = make([]*known, len(all))
	t := &r.x.terms
	fresh := &terms{known: map[text]*known{}}
	t.mu.RLock()
	loaded := t.loaded
	f.docs, f.length = t.docs, t.length
	var lack []text
	analyzer := t.analyzer
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
			one := text{word, term}
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
				own.df = append(own.df, fresh.known[text{word, term}].df[0])
			}
		}
	}
	if len(r.missing) == 0 && (fresh.loaded || len(fresh.known) > 0) {
		t.add(fresh)
	}
	if !loaded {
		f.docs, f.length = fresh.docs, fresh.length
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
		tokens.Each([]byte(part), func(word []byte) { out.terms = append(out.terms, string(word)) })
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

// load asks all shards for texts, in requests of bounded size, and for their analysis.
func (r *reach) load(ctx context.Context, lack []text, analysis bool, fresh *terms) error {
	slices.SortFunc(lack, func(a, b text) int { return cmp.Or(cmp.Compare(a.form, b.form), strings.Compare(a.text, b.text)) })
	lack = slices.Compact(lack)
	for first := true; first || len(lack) > 0; first = false { // the first one has the length of the whole, too
		q := &api.ShardTermsRequest{Analysis: first && analysis}
		n, bytes := 0, 0
		for ; n < len(lack) && lack[n].form == lack[0].form && bytes < mostBytes; n++ {
			bytes += 16 + 3*len(lack[n].text)
			if lack[n].form == term {
				q.Terms = append(q.Terms, lack[n].text)
			} else {
				q.Texts = append(q.Texts, lack[n].text)
			}
		}
		q.Literal = n > 0 && lack[0].form == literal
		if err := r.request(ctx, q, lack[:n], fresh); err != nil {
			return err
		}
		lack = lack[n:]
	}
	return nil
}

// request asks all shards for texts of one form.
func (r *reach) request(ctx context.Context, q *api.ShardTermsRequest, asked []text, fresh *terms) error {
	pieces, err := spread(ctx, r, task{times: &r.x.times.terms, size: len(asked), groups: true}, func(ctx context.Context, n *node, shards []int) (*api.ShardTermsResponse, []int, error) {
		mine := &api.ShardTermsRequest{Target: target(r.x.layout, shards[0]), Texts: q.GetTexts(), Literal: q.GetLiteral(), Terms: q.GetTerms(), Analysis: q.GetAnalysis()}
		for _, i := range shards[1:] {
			mine.More = append(mine.More, uint32(i))
		}
		a, err := n.client.ShardTerms(ctx, mine)
		if err != nil {
			return nil, nil, err
		}
		have, err := n.have(shards, a.GetShards(), mine.Target)
		if err == nil {
			err = checkTerms(a, mine.Target, len(q.GetTexts()))
		}
		return a, have, err
	})
	if err != nil {
		return err
	}
	answers := make([]*api.ShardTermsResponse, len(pieces))
	for i, p := range pieces {
		answers[i] = p.answer
	}
	fresh.absorb(asked, answers)
	return nil
}

// absorb adds the answers of shards on texts.
func (t *terms) absorb(asked []text, answers []*api.ShardTermsResponse) {
	t.loaded, t.docs, t.length = true, 0, 0
	found := make([]*known, len(asked))
	for i, k := range asked {
		found[i] = &known{plain: k.plain()}
		if t.known[k] = found[i]; k.form == term {
			found[i].terms = []string{k.text}
		}
	}
	df := map[string]uint64{}
	for _, a := range answers {
		t.docs += a.GetDocs()
		t.length += a.GetLength()
		if s := a.GetAnalysis(); s != nil && t.analyzer == nil {
			t.analyzer, _ = analyze.New(analyze.Settings{Tokens: s.GetTokens(), Fold: s.GetFold(), Stemmer: s.GetStemmer(), StopWords: s.GetStopWords()}) // an error leaves it to shards
		}
		for i, term := range a.GetTerms() {
			df[term] += a.GetDf()[i]
		}
		for _, e := range a.GetErrors() {
			found[e.GetQuery()].err = described(e.GetError())
		}
		start := uint32(0)
		for i, end := range a.GetEnds() {
			if k := found[i]; !k.plain || k.terms == nil { // shards agree on the words of a text
				for _, n := range a.GetNumbers()[start:end] {
					k.terms = append(k.terms, a.GetTerms()[n])
				}
			}
			start = end
		}
	}
	for _, k := range found {
		if !k.plain {
			slices.Sort(k.terms)
			k.terms = slices.Compact(k.terms)
		}
		for _, term := range k.terms {
			k.df = append(k.df, df[term])
		}
	}
}

// plain reports whether a text is a list of words of weight 1.
func (k text) plain() bool {
	return k.form != written || plainWords(k.text, func(string) {})
}

// add keeps facts for further queries.
func (t *terms) add(fresh *terms) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil || t.size > mostTerms {
		t.known, t.size = map[text]*known{}, 0
	}
	if fresh.loaded {
		t.loaded, t.docs, t.length = true, fresh.docs, fresh.length
	}
	if fresh.analyzer != nil {
		t.analyzer = fresh.analyzer
	}
	for k, v := range fresh.known {
		t.known[k] = v
		t.size += 1 + len(v.terms)
	}
}
