package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine"
	"heddle/engine/ingest"
	"heddle/engine/tablebuild"
	"heddle/engine/tabular"
)

// TestSearch builds an index and a table, serves them and asks them over HTTP.
func TestSearch(t *testing.T) {
	dir := t.TempDir()
	text, index := filepath.Join(dir, "looms.tsv"), filepath.Join(dir, "looms.hdl")
	if err := os.WriteFile(text, []byte("a\tthe red loom\nb\tthe blue loom\nc\ta red thread\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ingest.Build(t.Context(), index, []string{text}, ingest.Options{Format: ingest.Text}); err != nil {
		t.Fatal(err)
	}
	x, err := engine.Open(t.Context(), index, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	server := httptest.NewServer(handler(x, makeTable(t, dir)))
	defer server.Close()

	for query, want := range map[string][]string{
		"loom":       {"a", "b"},
		"Red loom":   {"a"},
		"red":        {"a", "c"},
		"green loom": {},
		"":           {},
	} {
		resp, err := http.Get(server.URL + "/search?q=" + url.QueryEscape(query))
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Count     int
			Documents []string
		}
		err = json.NewDecoder(resp.Body).Decode(&got)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusOK || got.Count != len(want) || !slices.Equal(got.Documents, want) {
			t.Errorf("%q: status %d, %+v, want %v", query, resp.StatusCode, got, want)
		}
	}
	for where, want := range map[string]string{"days > 30": "1\n", "days > 30 OR book = 'b'": "2\n", "dys > 30": `unknown column "dys" (nearest: "days")`} {
		resp, err := http.Get(server.URL + "/count?where=" + url.QueryEscape(where))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(string(got), want) || (resp.StatusCode == http.StatusOK) != (len(want) == 2) {
			t.Errorf("%q: status %d, %q, %v, want %q", where, resp.StatusCode, got, err, want)
		}
	}
	resp, err := http.Get(server.URL + "/other")
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("/other: status %d", resp.StatusCode)
	}
}

// makeTable has two rows, a day each.
func makeTable(t *testing.T, dir string) *engine.Table {
	t.Helper()
	path := filepath.Join(dir, "loans.hdb")
	src, err := tabular.OpenCSV(t.Context(), []string{"-"}, tabular.CSVOptions{Stdin: strings.NewReader("days,book\n31,a\n7,b\n")})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := tablebuild.Build(t.Context(), src, path, tablebuild.Options{}); err != nil {
		t.Fatal(err)
	}
	x, err := engine.OpenTable(t.Context(), path, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func TestNoIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "absent.hdl")
	if err := run(path, "", "localhost:0"); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("run without an index: %v", err)
	}
}
