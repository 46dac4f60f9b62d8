package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"heddle/engine/table/predicate/predicatetest"
	"heddle/engine/table/result"
	"heddle/engine/table/values"
)

// flightsTable is a table in memory of an engine in pure Go.
func flightsTable(t *testing.T, opt Options) *Table {
	t.Helper()
	opt.Backend = "host"
	e, err := New(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	table, columns := predicatetest.Table(t, 32, predicatetest.Flights()...)
	x, err := e.NewTable(t.Context(), &table.Table, columns, TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// lines returns the answer to an aggregation as lines of CSV.
func lines(ctx context.Context, x *Table, a Aggregation) (string, error) {
	var out strings.Builder
	w := values.NewCSV(&out)
	err := errors.Join(x.Aggregate(ctx, a, w.Write), w.Close())
	return out.String(), err
}

// TestAggregate counts the rows of a predicate, and of a prepared predicate, in groups.
func TestAggregate(t *testing.T) {
	x := flightsTable(t, Options{})
	p, err := x.Prepare(t.Context(), Selection{Where: "cancelled"})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := x.Select(t.Context(), Selection{Prepared: p})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Selection{{Where: "cancelled"}, {Prepared: p}} {
		var told TableExplanation
		s.Explain = &told
		got, err := lines(t.Context(), x, Aggregation{Select: "cancelled, count(*)", GroupBy: "cancelled", Rows: s})
		if want := fmt.Sprintf("cancelled,count(*)\ntrue,%d\n", rows.Count); err != nil || got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
		if told.Count != rows.Count || !strings.Contains(told.String(), "values in pure Go: groups, reads cancelled;") {
			t.Errorf("explanation %s", told.String())
		}
	}
	all, err := lines(t.Context(), x, Aggregation{Select: "count(*)"})
	info, errInfo := x.Info()
	if want := fmt.Sprintf("count(*)\n%d\n", info.Rows); err != nil || errInfo != nil || all != want {
		t.Errorf("without a predicate: %q, %v, want %q", all, err, want)
	}
}

// TestAggregateErrors has the code of each error.
func TestAggregateErrors(t *testing.T) {
	x := flightsTable(t, Options{Limits: Limits{Text: 100, Groups: 2, Values: 2}})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	broken := errors.New("broken")
	for _, test := range []struct {
		ctx  context.Context
		a    Aggregation
		code Code
		want string
	}{
		{t.Context(), Aggregation{Select: "count(*"}, InvalidQuery, "a ) is expected here"},
		{t.Context(), Aggregation{Select: "count(*)", GroupBy: "gates"}, InvalidQuery, `nearest: "gate"`},
		{t.Context(), Aggregation{Select: "gate", Rows: Selection{Where: "gate ="}}, InvalidQuery, "a value is expected here"},
		{t.Context(), Aggregation{Select: strings.Repeat("a", 101)}, Unsupported, "limit Text"},
		{t.Context(), Aggregation{Select: "count(*)", GroupBy: "gate, at"}, Unsupported, "more than 2 groups: limit Groups"},
		{t.Context(), Aggregation{Select: "count(distinct gate)"}, Unsupported, "limit Values"},
		{t.Context(), Aggregation{Select: "gate", Rows: Selection{Timeout: time.Nanosecond}}, Deadline, ""},
		{ended, Aggregation{Select: "gate"}, Canceled, ""},
	} {
		_, err := lines(test.ctx, x, test.a)
		if CodeOf(err) != test.code || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: code %v, %v", test.a, CodeOf(err), err)
		}
	}
	if err := x.Aggregate(t.Context(), Aggregation{Select: "gate"}, func(values.Batch) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("deliver fails: %v", err)
	}
	if code := CodeOf(fmt.Errorf("sum(x): %w", result.ErrOverflow)); code != Unsupported {
		t.Errorf("overflow has code %v", code)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := lines(t.Context(), x, Aggregation{Select: "gate"}); CodeOf(err) != Closed {
		t.Errorf("a closed table: %v", err)
	}
}
