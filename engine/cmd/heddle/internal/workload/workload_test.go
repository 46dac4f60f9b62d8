package workload

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/index/build"
	"heddle/engine/index/trec"
	"heddle/engine/internal/cost"
	"heddle/engine/plan"
)

// TestSample checks the number of queries of small and large files, and that a stream has
// none.
func TestSample(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.txt")
	for _, n := range []int{0, 1, 10, 100_000} {
		if err := os.WriteFile(path, []byte(strings.Repeat("red loom\n", n)), 0o600); err != nil {
			t.Fatal(err)
		}
		q := Sample(path, trec.Reading{Format: trec.Auto})
		if got := float64(len(q.Topics)) * q.Scale; got < float64(n)*0.999 || got > float64(n)*1.001 || len(q.Topics) > sampleBytes/9 {
			t.Errorf("%d queries: %d in the sample, scale %v", n, len(q.Topics), q.Scale)
		}
	}
	for _, path := range []string{"-", filepath.Join(t.TempDir(), "none"), t.TempDir()} {
		if q := Sample(path, trec.Reading{Format: trec.Auto}); len(q.Topics) > 0 {
			t.Errorf("%s has %d queries", path, len(q.Topics))
		}
	}
}

// TestSearch checks that all forms of a query give the same work.
func TestSearch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.hdl")
	text := strings.NewReader(strings.Repeat("a\tthe red loom\nb\tthe blue loom\n", 1000))
	if _, err := build.Build(t.Context(), path, []string{"-"}, build.Options{Format: build.Text, Stdin: text}); err != nil {
		t.Fatal(err)
	}
	s := Search{Path: path, Kind: cost.And, Queries: One("the red loom")}
	want, err := s.Work("x")
	if err != nil || want.Queries != 1 || want.Host <= 0 || want.Bytes == 0 {
		t.Fatalf("%+v, %v", want, err)
	}
	weighted := Search{Path: path, Kind: cost.And, Queries: One("the^2 RED loom^0.5 red nosuch")}
	boolean := Search{Path: path, Kind: cost.And, Queries: One("the AND red loom")}
	vector := Search{Path: path, Kind: cost.And, Queries: Queries{[]trec.Topic{{Terms: []string{"the", "red", "loom"}}}, 1}}
	for _, s := range []Search{weighted, boolean, vector} {
		if got, err := s.Work("x"); err != nil || got != want {
			t.Errorf("%+v: %+v, %v, want %+v", s, got, err, want)
		}
	}
	s.Queries = Queries{}
	if got, err := s.Work("x"); err != nil || got.Queries != 0 {
		t.Errorf("a stream has the work %+v, %v", got, err)
	}
	s = Search{Path: path + ".none", Queries: One("the")}
	if _, err := s.Work("x"); err == nil {
		t.Error("a missing index has work")
	}
	if _, err := Select(path, plan.OutputCounts, One("a > 1")); err == nil {
		t.Error("an index has the work of a table")
	}
}
