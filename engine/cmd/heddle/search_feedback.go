package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"heddle/engine"
	"heddle/engine/feedback"
	"heddle/engine/index/trec"
)

// feedbackOptions make queries of documents.
type feedbackOptions struct {
	like, rule string // name of a document, and the parameters of --like
	model      string // parameters of --rm3
	by         feedback.Like
	rm3        feedback.RM3
	given      func(flag string) bool
}

func (f *feedbackOptions) add(fs *pflag.FlagSet) {
	f.given = fs.Changed
	fs.StringVar(&f.like, "like", "", "find documents like the document `NAME`")
	fs.StringVar(&f.rule, "like-rule", "", "numbers of --like, a `LIST` (help feedback)")
	fs.StringVar(&f.model, "rm3", "", "expand queries by best documents, `LIST`: help feedback")
	fs.Lookup("rm3").NoOptDefVal = "10,10,0.5"
}

// on tells whether queries are made of documents.
func (f *feedbackOptions) on() bool { return f.given("like") || f.given("rm3") }

// validateFeedback checks the flags, and makes --like the query.
func (o *searchOptions) validateFeedback() error {
	f := &o.feedback
	if f.given("like-rule") && !f.given("like") {
		return errors.New("--like-rule is for --like")
	}
	if !f.on() {
		return nil
	}
	if _, err := fmt.Sscanf(f.rule+"\n", "%d,%d,%d\n", &f.by.Terms, &f.by.MinFrequency, &f.by.MinDocuments); f.given("like-rule") && err != nil {
		return fmt.Errorf("--like-rule %s: want three whole numbers such as 25,2,5", f.rule)
	}
	f.rm3.Weight = new(float64)
	if _, err := fmt.Sscanf(f.model+"\n", "%d,%d,%g\n", &f.rm3.Docs, &f.rm3.Terms, f.rm3.Weight); f.given("rm3") && err != nil {
		return fmt.Errorf("--rm3=%s: want three numbers such as 10,10,0.5", f.model)
	}
	for _, flag := range []string{"synonyms", "all", "count", "part"} {
		if f.given(flag) {
			return errors.New("--like and --rm3 exclude --" + flag)
		}
	}
	switch {
	case o.syntax == syntaxBoolean:
		return errors.New("--like and --rm3 are for ranked results: omit --syntax boolean")
	case !f.given("like"):
		return nil
	case f.given("total") || f.given("after"):
		return errors.New("--total and --after count the document that --like leaves out: omit them")
	case f.given("rm3") || f.given("query") || f.given("queries"):
		return errors.New("--like excludes --query, --queries and --rm3")
	}
	o.text, o.syntax, o.excludeSelf = f.like, syntaxLiteral, true
	o.queries.given.text = func() bool { return true }
	return nil
}

// wrap makes queries of documents of x before they are answered, and is answer without feedback. Q is the options of all
// queries, which gets the mode or.
func (f *feedbackOptions) wrap(x feedback.Index, q *engine.Query, answer func(context.Context, []trec.Topic) error) func(context.Context, []trec.Topic) error {
	if !f.on() {
		return answer
	}
	options := *q
	q.Match = engine.Or
	return func(ctx context.Context, all []trec.Topic) error {
		all = slices.Clone(all)
		for i := range all {
			t := &all[i]
			if t.Err != nil {
				continue
			}
			var wrong *engine.Error
			one, err := options, error(nil)
			if f.given("rm3") {
				one.Text, one.Terms, one.Weights = t.Text, t.Terms, t.Weights
				one, err = f.rm3.Expand(ctx, x, one)
			} else {
				t.ID = f.like
				one, err = f.by.Query(ctx, x, f.like, one)
			}
			switch engine.CodeOf(err) {
			case engine.InvalidOption, engine.InvalidQuery, engine.NotFound:
				if t.Err = err; errors.As(err, &wrong) {
					t.Err = wrong.Err // without the step that failed
				}
			default:
				if err != nil {
					return err
				}
			}
			if t.Terms, t.Weights = one.Terms, one.Weights; t.Terms != nil {
				t.Text = ""
			}
		}
		return answer(ctx, all)
	}
}
