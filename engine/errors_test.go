package engine

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"heddle/engine/plan"
)

// TestErrorText names operation, object and device.
func TestErrorText(t *testing.T) {
	e, err := New(t.Context(), backendOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	x, err := e.OpenIndex(t.Context(), indexFile(t), IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	y, err := e.OpenTable(t.Context(), tableFile(t, 32), TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := x.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	none := Query{Terms: []string{"t000"}, Match: 200}
	if err := x.SearchAll(t.Context(), []Query{{Terms: []string{"t000"}}, none}, func(int, []Hits) error { return nil }); err == nil || !strings.HasPrefix(err.Error(), "search: ") {
		t.Errorf("the second query: %v", err)
	}
	if err := x.SearchAll(t.Context(), []Query{{Terms: []string{"t000"}}, {Text: "heaven~3"}}, func(int, []Hits) error { return nil }); err == nil || !strings.HasPrefix(err.Error(), "queries[1]: column") {
		t.Errorf("the second query: %v", err)
	}
	for _, close := range []func() error{s.Close, x.Close, y.Close, e.Close} {
		if err := close(); err != nil {
			t.Fatal(err)
		}
	}
	_, index := x.Search(t.Context(), Query{})
	_, table := y.Select(t.Context(), Selection{})
	_, snapshot := s.Search(t.Context(), Query{})
	_, open := e.OpenIndex(t.Context(), indexFile(t), IndexOptions{})
	lost := &Error{Code: OutOfMemory, Op: "search", Device: "H200", Err: plan.ErrOutOfMemory}
	named := &Error{Code: OutOfMemory, Op: "search", Device: "H200", Err: broken(plan.ErrOutOfMemory, "H200")}
	if err := fmt.Errorf("so: %w", &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}); CodeOf(err) != DiskFull || DiskFull.ExitCode() != 5 || DiskFull.String() != "disk_full" {
		t.Errorf("%v: code %v", err, CodeOf(err))
	}
	for c := range Internal + 1 {
		var got Code
		if text, err := c.MarshalText(); err != nil || got.UnmarshalText(text) != nil || got != c {
			t.Errorf("code %v became %v, %v", c, got, err)
		}
	}
	if unknown := OK; unknown.UnmarshalText([]byte("later")) != nil || unknown != Internal {
		t.Errorf("an unknown code became %v", unknown)
	}
	for want, err := range map[string]error{
		"search: the index is closed":                                 index,
		"close index: the index is closed":                            x.Close(),
		"select: the table is closed":                                 table,
		"close table: the table is closed":                            y.Close(),
		"search: the snapshot is closed":                              snapshot,
		"open index: the engine is closed":                            open,
		"close engine: the engine is closed":                          e.Close(),
		"search: H200: out of memory":                                 lost,
		"search: H200: testing: out of memory: a fault was asked for": named,
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
