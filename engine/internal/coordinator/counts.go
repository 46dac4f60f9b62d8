package coordinator

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"heddle/engine/index/analyze"
	"heddle/engine/index/bm25"
	"heddle/engine/internal/part"
)

// terms is the terms of texts and their statistics, of one shard or of the whole.
type terms struct {
	mu           sync.RWMutex
	loaded       bool // docs and length are known
	docs, length uint64
	fields       []bm25.FieldStatistics
	analyzer     *analyze.Analyzer // nil: only shards analyse
	known        map[text]*known
	size         int // terms of known
}

// mostTerms bounds the terms, and the texts, that a coordinator keeps of an epoch; the terms of all
// shards of the epoch have the same bound.
const mostTerms = 1 << 18

// add keeps facts for further queries, and about most terms.
func (t *terms) add(fresh *terms, most int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil || t.size > most {
		t.known, t.size = map[text]*known{}, 0
	}
	if fresh.loaded {
		t.loaded, t.docs, t.length, t.fields = true, fresh.docs, fresh.length, fresh.fields
	}
	if fresh.analyzer != nil {
		t.analyzer = fresh.analyzer
	}
	for k, v := range fresh.known {
		t.known[k] = v
		t.size += 1 + len(v.terms)
	}
}

// analysis returns the analyzer; nil if only shards analyse.
func (t *terms) analysis() *analyze.Analyzer {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.analyzer
}

// pick returns the facts on texts; nil if t lacks some.
func (t *terms) pick(asked []text) *terms {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if !t.loaded {
		return nil
	}
	out := &terms{docs: t.docs, length: t.length, fields: t.fields, analyzer: t.analyzer, known: make(map[text]*known, len(asked))}
	for _, k := range asked {
		if out.known[k] = t.known[k]; out.known[k] == nil {
			return nil
		}
	}
	return out
}

// share sets the facts on each shard of x: the facts on the same content in the epoch before, which is
// old, or none. Old may be nil.
func share(x, old *Collection) {
	x.shards = make([]*terms, len(x.Layout.Shards))
	before := map[[2]string]*terms{}
	if old != nil {
		for i, s := range old.Layout.Shards {
			before[[2]string{s.SHA256, s.Deleted}] = old.shards[i]
		}
	}
	for i, s := range x.Layout.Shards {
		if x.shards[i] = before[[2]string{s.SHA256, s.Deleted}]; x.shards[i] == nil {
			x.shards[i] = new(terms)
			continue
		}
		x.shards[i].mu.RLock()
		x.terms.analyzer = cmp.Or(x.terms.analyzer, x.shards[i].analyzer)
		x.shards[i].mu.RUnlock()
	}
}

// load asks all shards for texts, in requests of bounded size, and for their analysis.
func (r *run) load(ctx context.Context, lack []text, analysis bool, fresh *terms) error {
	slices.SortFunc(lack, func(a, b text) int {
		return cmp.Or(cmp.Compare(a.form, b.form), strings.Compare(a.fields, b.fields), strings.Compare(a.text, b.text))
	})
	lack = slices.Compact(lack)
	for first := true; first || len(lack) > 0; first = false { // the first one has the length of the whole, too
		q := &part.TermsRequest{Analysis: first && analysis}
		n, bytes := 0, 0
		for ; n < len(lack) && lack[n].form == lack[0].form && lack[n].fields == lack[0].fields && bytes < mostBytes; n++ {
			bytes += 16 + 3*len(lack[n].text)
			if lack[n].form == term {
				q.Terms = append(q.Terms, lack[n].text)
			} else {
				q.Texts = append(q.Texts, lack[n].text)
			}
		}
		if n > 0 {
			q.Literal, q.Fields = lack[0].form == literal, lack[0].fields
		}
		if err := r.request(ctx, q, lack[:n], fresh); err != nil {
			return err
		}
		lack = lack[n:]
	}
	return nil
}

// request finds the facts on texts of one form. It asks the shards whose facts are not known.
func (r *run) request(ctx context.Context, q *part.TermsRequest, asked []text, fresh *terms) error {
	var parts []*terms
	lack := []int{}
	for _, i := range r.within() {
		if own := r.shards[i].pick(asked); own != nil {
			parts = append(parts, own)
		} else {
			lack = append(lack, i)
		}
	}
	pieces, err := Spread(ctx, &r.Reach, Fan{Size: len(asked), Groups: true, Shards: lack}, func(ctx context.Context, f *Fan) ([]Piece[*part.Terms], []error) {
		return r.c.shards.Terms(ctx, f, q)
	})
	if err != nil {
		return err
	}
	for _, p := range pieces {
		own := factsIn(asked, p.Answer)
		own.analyzer = cmp.Or(own.analyzer, fresh.analyzer) // all shards have the same one
		if parts = append(parts, own); len(p.Shards) == 1 {
			r.shards[p.Shards[0]].add(own, mostTerms/len(r.shards))
		}
	}
	fresh.join(asked, parts)
	return nil
}

// factsIn returns the facts of an answer on texts.
func factsIn(asked []text, a *part.Terms) *terms {
	t := &terms{loaded: true, docs: a.Docs, length: a.Length, fields: a.Fields, known: make(map[text]*known, len(asked))}
	if a.Analysis != nil {
		t.analyzer, _ = analyze.New(*a.Analysis) // an error leaves it to shards
	}
	df := make(map[string]uint64, len(a.Terms))
	for i, term := range a.Terms {
		df[term] = a.DF[i]
	}
	start := uint32(0)
	for i, k := range asked {
		own := &known{}
		if t.known[k] = own; k.form == term {
			own.terms = []string{k.text}
		} else {
			for _, n := range a.Numbers[start:a.Ends[i]] {
				own.terms = append(own.terms, a.Terms[n])
			}
			start = a.Ends[i]
		}
		for _, term := range own.terms {
			own.df = append(own.df, df[term])
		}
	}
	for _, e := range a.Errors {
		t.known[asked[e.Query]].err = e.Err
	}
	return t
}

// join adds the facts of shards, or of groups of shards, on texts.
func (t *terms) join(asked []text, parts []*terms) {
	t.loaded, t.docs, t.length, t.fields = true, 0, 0, nil
	for _, p := range parts {
		t.docs, t.length, t.fields = t.docs+p.docs, t.length+p.length, bm25.AddFields(t.fields, p.fields)
		t.analyzer = cmp.Or(t.analyzer, p.analyzer)
	}
	for _, k := range asked {
		t.known[k] = joinText(k, parts, len(t.fields) > 0)
	}
}

// joinText adds the facts of parts on one text. On an index with fields a word is no term.
func joinText(k text, parts []*terms, fields bool) *known {
	out := &known{plain: k.plain() && (k.form == term || !fields)}
	type sum struct {
		df   uint64
		part int // the last one, from 1: a term counts once for each part
	}
	sums := map[string]sum{}
	for number, p := range parts {
		own := p.known[k]
		if own.err != nil {
			out.err = own.err
		}
		if !out.plain || out.terms == nil { // shards agree on the words of a text
			out.terms = append(out.terms, own.terms...)
		}
		for i, term := range own.terms {
			if s := sums[term]; s.part <= number {
				sums[term] = sum{s.df + own.df[i], number + 1}
			}
		}
	}
	if !out.plain {
		slices.Sort(out.terms)
		out.terms = slices.Compact(out.terms)
	}
	for _, term := range out.terms {
		out.df = append(out.df, sums[term].df)
	}
	return out
}
