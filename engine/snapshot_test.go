package engine

import (
	"slices"
	"testing"

	"heddle/engine/plan"
)

// TestClosedSnapshot calls all methods of a snapshot after its close, while the index is open
// and after its close.
func TestClosedSnapshot(t *testing.T) {
	e, err := New(t.Context(), backendOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	x, err := e.OpenIndex(t.Context(), indexFile(t), IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := x.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if info := s.Info(); info.Path != s.File().Path() || info.Checksum != s.File().Checksum() || info.Checksum == 0 {
		t.Errorf("%+v", info)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	q := Query{Terms: []string{"t000"}}
	check := func(t *testing.T) {
		t.Helper()
		_, search := s.Search(t.Context(), q)
		all := s.SearchAll(t.Context(), []Query{q}, func(int, []Hits) error { return nil })
		_, _, terms := s.WeightedTerms(q)
		_, _, expression := s.Expression(q)
		for i, err := range []error{search, all, terms, expression} {
			if CodeOf(err) != Closed {
				t.Errorf("call %d: %v", i, err)
			}
		}
		info := s.Info()
		if s.File() != nil || s.Source() != nil || s.Terms("t000") != nil || s.Statistics("t000").Docs != 0 || info.Docs != 0 || info.Resident != nil ||
			s.ExplainList("", plan.Auto, 0) != "" || s.ExplainQuery("", q) != "" {
			t.Error("a closed snapshot gives answers")
		}
	}
	check(t)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	check(t)
	if err := s.Close(); err != nil {
		t.Errorf("a second close: %v", err)
	}
}

// TestTableInfoStays reads the description of a table after its file was replaced and closed.
func TestTableInfoStays(t *testing.T) {
	e := tableEngine(t, backendOptions(t))
	path := tableFile(t, 32)
	x, err := e.OpenTable(t.Context(), path, TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	before, err := x.Info()
	if err != nil || before.Path != path || before.Checksum == 0 {
		t.Fatalf("%+v: %v", before, err)
	}
	if err := x.Reload(t.Context(), tableFile(t, 64)); err != nil {
		t.Fatal(err)
	}
	after, err := x.Info()
	if err != nil || after.Checksum == before.Checksum || after.Path == path {
		t.Errorf("%+v: %v", after, err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	_, columns := inTable(t, 32)
	for i, c := range columns {
		if b := before.Columns[i]; b.Name != c.Name || !slices.Equal(b.Bins, c.Bins) || !slices.Equal(b.Dictionary, c.Dictionary) {
			t.Errorf("column %d: %+v", i, b)
		}
	}
}
