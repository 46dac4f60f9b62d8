package shard

import (
	"bytes"
	"math"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/index/analyze"
	"heddle/engine/index/bm25"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/order"
	"heddle/engine/internal/part"
	"heddle/engine/internal/query"
	"heddle/engine/table/rowset"
)

// SearchMessage is the message of a request, without target and filters. Left is the time until its end in
// microseconds; 0: none.
func SearchMessage(r *part.Request, left uint64) *api.ShardSearchRequest {
	m := &api.ShardSearchRequest{Texts: r.Texts, Numbers: r.Numbers, Ends: r.Ends, Literal: r.Literal, Mode: r.Match.String(), K: uint32(r.K), Count: r.Count,
		Limit: r.Limit, Replaced: r.Statistics.Replaced, Names: r.Names, Caller: r.Caller, TimeoutUs: left, Explain: r.Explain, Filter: r.Filter, Total: r.Total,
		Statistics:  &api.Statistics{Docs: r.Statistics.Docs, Length: r.Statistics.Length, Terms: r.Statistics.Terms, Df: r.Statistics.DF, Fields: api.FieldsMessage(r.Statistics.Fields)},
		QueryFields: r.Fields}
	for _, l := range r.Lists {
		m.Lists = append(m.Lists, &api.ShardTermList{Terms: l.Terms, Weights: l.Weights})
	}
	if o := r.Order; o != nil {
		m.Order = &api.ShardOrder{MinScore: o.MinScore, Collapse: o.Collapse, CollapseLimit: uint32(o.Most), Seen: valuesMessage(r.Seen)}
		if b := o.Boost; b != nil {
			m.Order.Boost = &api.ShardBoost{Column: b.Column, From: b.From, To: b.To, Weight: b.Weight}
		}
		for _, k := range o.Keys {
			m.Order.Keys = append(m.Order.Keys, k.String())
		}
		if p := o.After; p != nil {
			m.Order.After = &api.ShardPlace{Values: valuesMessage(p.Values), Score: p.Score, Doc: p.Doc}
		}
	}
	if e := r.Expansion; e.Limit > 0 {
		m.Expansion = &api.ShardExpansion{Limit: uint32(e.Limit), Top: e.Top, PrefixLength: uint32(e.Fixed), Best: e.Best}
	}
	if r.Dismax.On {
		m.Tie = &r.Dismax.Tie
	}
	if s := r.Scoring; s != nil {
		m.Scoring = &api.Scoring{Variant: s.Variant.String(), K1: &s.K1, B: &s.B}
	}
	return m
}

// queriesOf are the queries of a message.
func queriesOf(m *api.ShardSearchRequest) (_ *part.Queries, err error) {
	s := m.GetStatistics()
	r := &part.Request{Texts: m.GetTexts(), Numbers: m.GetNumbers(), Ends: m.GetEnds(), Literal: m.GetLiteral(), K: int(m.GetK()), Total: m.GetTotal(), Count: m.GetCount(),
		Limit: m.GetLimit(), Names: m.GetNames(), Caller: m.GetCaller(), Timeout: left(m.GetTimeoutUs()), Explain: m.GetExplain(), Filter: m.GetFilter(), Fields: m.GetQueryFields()}
	if s != nil {
		r.Statistics = &part.Statistics{Docs: s.GetDocs(), Length: s.GetLength(), Terms: s.GetTerms(), DF: s.GetDf(), Fields: api.FieldsOf(s.GetFields()), Replaced: m.GetReplaced()}
	}
	if e := m.GetExpansion(); e != nil {
		r.Expansion = query.Expansion{Limit: int(e.GetLimit()), Top: e.GetTop(), Fixed: int(e.GetPrefixLength()), Best: e.GetBest()}
	}
	r.Dismax = query.Dismax{On: m.Tie != nil, Tie: m.GetTie()}
	for _, l := range m.GetLists() {
		r.Lists = append(r.Lists, part.List{Terms: l.GetTerms(), Weights: l.GetWeights()})
	}
	if r.Match, err = engine.ParseMatch(m.GetMode()); err != nil {
		return nil, err
	}
	if o := m.GetOrder(); o != nil {
		if r.Order, err = orderOf(o); err != nil {
			return nil, err
		}
		r.Seen = valuesOf(o.GetSeen())
		if r.K == 0 || r.Match > engine.And {
			return nil, invalidOption("search", "order: it is for ranked queries of the modes or and and")
		}
	}
	if s := m.GetScoring(); s != nil {
		p := bm25.Params{K1: s.GetK1(), B: s.GetB()}
		if p.Variant, err = bm25.ParseVariant(s.GetVariant()); err != nil {
			return nil, invalidOption("search", "%w", err)
		}
		r.Scoring = &p
	}
	if len(s.GetTerms()) != len(s.GetDf()) {
		return nil, invalidOption("search", "statistics: %d terms, but %d numbers df", len(s.GetTerms()), len(s.GetDf()))
	}
	for i, n := range m.GetNumbers() {
		if uint64(n) >= uint64(len(s.GetTerms())) {
			return nil, invalidOption("search", "numbers[%d] is %d: statistics has %d terms", i, n, len(s.GetTerms()))
		}
	}
	start := uint32(0)
	for i, end := range m.GetEnds() {
		if end < start || uint64(end) > uint64(len(m.GetNumbers())) {
			return nil, invalidOption("search", "ends[%d] is %d: want %d to %d", i, end, start, len(m.GetNumbers()))
		}
		start = end
	}
	return part.Prepare(r), nil
}

// orderOf is the order of a message.
func orderOf(o *api.ShardOrder) (s *order.Spec, err error) {
	s = &order.Spec{MinScore: o.GetMinScore(), Collapse: o.GetCollapse(), Most: int(o.GetCollapseLimit())}
	if s.Keys, err = order.Parse(o.GetKeys()); err != nil {
		return nil, err
	}
	if p := o.GetAfter(); p != nil {
		s.After = &order.Place{Values: valuesOf(p.GetValues()), Score: p.GetScore(), Doc: p.GetDoc()}
		if n := len(s.Columns()); len(p.GetValues()) != n {
			return nil, invalidOption("search", "order.after has %d values for %d columns", len(p.GetValues()), n)
		}
	}
	if b := o.GetBoost(); b != nil {
		s.Boost = &order.Boost{Column: b.GetColumn(), From: b.GetFrom(), To: b.GetTo(), Weight: b.GetWeight()}
		if err := s.Boost.Validate(); err != nil {
			return nil, err
		}
	}
	if s.Collapse == "" && (s.Most > 0 || len(o.GetSeen()) > 0) || s.Collapse != "" && (s.Most == 0 || s.Most > order.MostCollapsed) || len(o.GetSeen()) > 0 && s.After == nil {
		return nil, invalidOption("search", "order: collapse_limit is %d, want 1 to %d with collapse; seen needs collapse and after", s.Most, order.MostCollapsed)
	}
	return s, nil
}

// left returns the time-out of a request.
func left(us uint64) time.Duration {
	if us == 0 {
		return -1
	}
	return time.Duration(us) * time.Microsecond
}

// answerMessage is the message of an answer, without epoch and shards.
func answerMessage(a *part.Answer) *api.ShardSearchResponse {
	return &api.ShardSearchResponse{Counts: a.Counts, Docs: a.Docs, Ends: a.Ends, Scores: a.Scores, Units: a.Units, Names: a.Names, Errors: errorMessages(a.Errors),
		Explanation: a.Explanation, QueuedUs: uint64(a.Queued.Microseconds()), Places: a.Places, Totals: a.Totals, Keys: valuesMessage(a.Keys),
		Groups: valuesMessage(a.Groups), Seen: a.Seen}
}

func valuesMessage(all []order.Value) (out []*api.SortValue) {
	for _, v := range all {
		out = append(out, &api.SortValue{Missing: v.Missing, Number: v.Number, Text: v.Text})
	}
	return out
}

func valuesOf(all []*api.SortValue) (out []order.Value) {
	for _, v := range all {
		out = append(out, order.Value{Missing: v.GetMissing(), Number: v.GetNumber(), Text: v.GetText()})
	}
	return out
}

// AnswerOf is the answer of a message, whose arrays must agree. Described makes its errors.
func AnswerOf(m *api.ShardSearchResponse, described func(*api.Error) error) *part.Answer {
	return &part.Answer{Counts: m.Counts, Docs: m.Docs, Ends: m.Ends, Scores: m.Scores, Units: m.Units, Names: m.Names, Errors: errorsOf(m.Errors, described),
		Explanation: m.Explanation, Queued: time.Duration(m.QueuedUs) * time.Microsecond, Places: m.Places, Totals: m.Totals, Keys: valuesOf(m.Keys),
		Groups: valuesOf(m.Groups), Seen: m.Seen}
}

// termsMessage is the message of terms, without shards.
func termsMessage(t *part.Terms) *api.ShardTermsResponse {
	m := &api.ShardTermsResponse{Docs: t.Docs, Length: t.Length, Terms: t.Terms, Df: t.DF, Numbers: t.Numbers, Ends: t.Ends, Errors: errorMessages(t.Errors), Fields: api.FieldsMessage(t.Fields)}
	m.Analysis = analysisMessage(t.Analysis)
	return m
}

// analysisMessage is the message of an analysis; nil for nil.
func analysisMessage(s *analyze.Settings) *api.Analysis {
	if s == nil {
		return nil
	}
	return &api.Analysis{Rules: uint32(s.Rules), Tokens: s.Tokens, Cjk: s.CJK, Fold: s.Fold, Stemmer: s.Stemmer, StopWords: s.StopWords}
}

// analysisOf is the analysis of a message; nil for nil.
func analysisOf(m *api.Analysis) *analyze.Settings {
	if m == nil {
		return nil
	}
	return &analyze.Settings{Rules: int(m.Rules), Tokens: m.Tokens, CJK: m.Cjk, Fold: m.Fold, Stemmer: m.Stemmer, StopWords: m.StopWords}
}

// TermsOf is the terms of a message, as AnswerOf.
func TermsOf(m *api.ShardTermsResponse, described func(*api.Error) error) *part.Terms {
	t := &part.Terms{Docs: m.Docs, Length: m.Length, Terms: m.Terms, DF: m.Df, Numbers: m.Numbers, Ends: m.Ends, Errors: errorsOf(m.Errors, described), Fields: api.FieldsOf(m.Fields)}
	t.Analysis = analysisOf(m.Analysis)
	return t
}

func errorMessages(all []query.Error) (out []*api.BatchError) {
	for _, e := range all {
		out = append(out, &api.BatchError{Query: uint32(e.Query), Error: api.ErrorOf(e.Err)})
	}
	return out
}

func errorsOf(all []*api.BatchError, described func(*api.Error) error) (out []query.Error) {
	for _, e := range all {
		out = append(out, query.Error{Query: int(e.GetQuery()), Err: described(e.GetError())})
	}
	return out
}

// FilterMessage is the message of a filter.
func FilterMessage(f *filter.Filter) *api.Filter {
	m := &api.Filter{Where: f.Where}
	if f.Docs != nil {
		m.Docs = &api.DocumentSet{}
		for _, d := range f.Docs {
			m.Docs.Ids = append(m.Docs.Ids, uint64(d))
		}
	}
	if f.Bitmap != nil {
		m.Roaring = Roaring(f.Bitmap)
	}
	for _, a := range f.And {
		m.And = append(m.And, FilterMessage(a))
	}
	return m
}

// Roaring is the message of a bitmap.
func Roaring(b *roaring.Bitmap) []byte {
	data, err := b.ToBytes()
	if err != nil {
		panic(err) // memory takes all bytes
	}
	return data
}

// filtersOf returns the filters of messages.
func filtersOf(all []*api.Filter) (out []*filter.Filter, err error) {
	for _, m := range all {
		f := &filter.Filter{Where: m.GetWhere()}
		if m.GetDocs() != nil {
			f.Docs = make([]uint32, len(m.Docs.Ids))
			for i, id := range m.Docs.Ids {
				f.Docs[i] = uint32(min(id, math.MaxUint32)) // greater ids become a document that the shard lacks
			}
		}
		if m.GetRoaring() != nil {
			if f.Bitmap, err = rowset.ReadRoaring(bytes.NewReader(m.Roaring), math.MaxUint32); err != nil {
				return nil, invalidOption("search", "filter: roaring: %w", err)
			}
		}
		if f.And, err = filtersOf(m.GetAnd()); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}
