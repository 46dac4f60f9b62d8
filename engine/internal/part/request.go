package part

import (
	"time"

	"heddle/engine/index/analyze"
	"heddle/engine/index/bm25"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/order"
	"heddle/engine/internal/query"
)

// TermsRequest asks for the terms of texts, with their statistics. A prefix or tolerant word has all its terms, up to
// limit.MostExpansions.
type TermsRequest struct {
	Texts    []string
	Literal  bool
	Terms    []string // terms of the index, without analysis
	Analysis bool     // the settings of the analysis are wanted
	Fields   string   // query.Options.Fields
}

// Terms is the answer to a TermsRequest, of one part or of several together: the sums of their numbers, and the terms
// that a text has in any of them.
type Terms struct {
	Docs, Length  uint64 // documents with at least one term, and the sum of their lengths in tokens
	Fields        []bm25.FieldStatistics
	Terms         []string // distinct terms of the texts, and the terms of the request
	DF            []uint64 // number of documents with each of Terms
	Numbers, Ends []uint32 // the terms of text i are Terms[Numbers[Ends[i-1]:Ends[i]]]
	Errors        []query.Error
	Analysis      *analyze.Settings // nil: not asked for, or the index has fields
}

// Request is queries that differ in their texts or terms and their filters alone: first Texts, then Lists, then the
// lists of terms of weight 1 that Ends cuts.
type Request struct {
	Texts         []string
	Lists         []List
	Numbers, Ends []uint32 // query i of Ends has the terms Statistics.Terms[Numbers[Ends[i-1]:Ends[i]]]
	Literal       bool
	Match         querylang.Match
	K             int           // 0: all matching documents, without scores
	Total         uint64        // matching documents are counted up to this number; 0: they are not
	Count         bool          // the number of documents alone
	Limit         uint64        // first documents of a query without K; 0: all
	Order         *order.Spec   // of a ranked query; nil: the descending score
	Seen          []order.Value // values of Order.Collapse: Answer.Seen is wanted in place of documents
	Scoring       *bm25.Params
	Expansion     query.Expansion // with a limit, of the coordinator
	Dismax        query.Dismax
	Fields        string      // query.Options.Fields
	Statistics    *Statistics // nil: of the part
	Names         bool        // names of documents too
	Caller        string
	Timeout       time.Duration // negative: none besides the context
	Explain       bool
	Filter        []uint32 // by query: n is filter n-1 of a part, and 0 is none; empty: no query has a filter
}

// List is a query of index terms. Weights are as in engine.Query.
type List struct {
	Terms   []string
	Weights []float64
}

// Statistics are the statistics of the whole index.
type Statistics struct {
	Docs, Length uint64
	Fields       []bm25.FieldStatistics
	Terms        []string
	DF           []uint64 // number of documents with each of Terms
	Replaced     bool     // they come from the caller of the query
}

// Answer is the answer to a Request, of one part or of several together. The documents of query i are
// Docs[Ends[i-1]:Ends[i]].
type Answer struct {
	Counts []uint64
	Docs   []uint32 // numbers in their parts
	Places []uint32 // parts of Docs, as places among the parts of the answer; empty for one part
	Ends   []uint64
	Keys   []order.Value // values of the columns of Request.Order of each of Docs
	Groups []order.Value // value of Request.Order.Collapse of each of Docs, if there is one
	Seen   []uint32      // by query and value of Request.Seen: documents up to Request.Order.After, at most Request.Order.Most
	Scores []float64     // a score for each of Docs, if the queries are ranked
	Units  []float64     // by ranked query: value of 1 in the sums behind its scores
	Totals []uint64      // by query, if Request.Total: number of matching documents, or Total + 1 if more match
	Names  []string      // a name for each of Docs, if they were asked for
	Errors []query.Error

	Explanation string
	Queued      time.Duration // time in the queue, with an Explanation alone
}
