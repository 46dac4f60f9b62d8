package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"heddle/engine"
	"heddle/engine/syntax"
)

// pageOptions choose the order of the documents of an answer, and the page of them.
type pageOptions struct {
	offset        int
	after         string
	sort          []string
	minScore      float64
	collapse      string
	collapseLimit int
	boost         boost
}

func (o *pageOptions) add(fs *pflag.FlagSet) {
	fs.IntVar(&o.offset, "offset", 0, "leave out the first `N` documents; with -k at most 10000")
	fs.StringVar(&o.after, "after", "", "continue behind the `CURSOR` of a page; * begins the first page")
	fs.StringSliceVar(&o.sort, "sort", nil, "order by `KEYS`: columns of --table, score: 'year desc,score'")
	fs.Float64Var(&o.minScore, "min-score", 0, "least `SCORE` of a document; with --total and -k 0 their number")
	fs.StringVar(&o.collapse, "collapse", "", "print the first document per value of `COLUMN` of --table")
	fs.IntVar(&o.collapseLimit, "collapse-limit", 0, "print the first `N` documents per value, 1 to 100")
	fs.Var(&o.boost, "boost", "add to scores by `RULE`: 'COLUMN FROM TO WEIGHT'")
}

// paged reports whether an answer has another order than the score or another page than the first one.
func (o *pageOptions) paged() bool {
	return o.offset != 0 || o.after != "" || len(o.sort) > 0 || o.minScore != 0 || o.collapse != "" || o.collapseLimit != 0 || o.boost.Column != ""
}

// attributes reports whether the order reads attributes.
func (o *pageOptions) attributes() bool {
	return len(o.sort) > 0 || o.collapse != "" || o.boost.Column != ""
}

// validate checks the flags. A collection has a table of its own.
func (o *pageOptions) validate(table, ranked bool) error {
	switch {
	case o.paged() && !ranked:
		return errors.New("--offset, --after, --sort, --min-score, --collapse and --boost are for ranked results: omit --all, --count and --syntax boolean")
	case !table && (o.collapse != "" || o.boost.Column != ""):
		return errors.New("--collapse and --boost need the table of the documents' attributes: --table X.hdb")
	}
	return nil
}

// page sets the order and the page of a query.
func (o *pageOptions) page(q *engine.Query) {
	q.Offset, q.After, q.Sort, q.MinScore = o.offset, o.after, o.sort, o.minScore
	if q.Collapse, q.CollapseLimit = o.collapse, o.collapseLimit; o.boost.Column != "" {
		q.Boost = (*engine.Boost)(&o.boost)
	}
}

// boost is Query.Boost as a flag.
type boost engine.Boost

func (b *boost) String() string { return "" }

// Type implements pflag.Value.
func (b *boost) Type() string { return "boost" }

// Set implements pflag.Value. The column may have spaces in its name.
func (b *boost) Set(text string) (err error) {
	words := strings.Fields(text)
	n := len(words) - 3
	if n < 1 {
		return fmt.Errorf("want COLUMN FROM TO WEIGHT, found %s", syntax.Quote(text))
	}
	*b = boost{Column: strings.Join(words[:n], " "), From: words[n], To: words[n+1]}
	if b.Weight, err = strconv.ParseFloat(words[n+2], 64); err != nil {
		return fmt.Errorf("the weight is %s, want a number", syntax.Quote(words[n+2]))
	}
	return nil
}

// tie is the value of --tie.
type tie struct{ value *float64 }

// String implements pflag.Value.
func (t *tie) String() string {
	if t.value == nil {
		return ""
	}
	return strconv.FormatFloat(*t.value, 'g', -1, 64)
}

// Type implements pflag.Value.
func (t *tie) Type() string { return "tie" }

// Set implements pflag.Value.
func (t *tie) Set(text string) error {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0 && n <= 1) {
		return fmt.Errorf("want a number from 0 to 1, found %s", syntax.Quote(text))
	}
	t.value = &n
	return nil
}
