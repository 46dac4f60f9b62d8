package main

import (
	"encoding/json"
	"strings"
	"testing"

	"heddle/engine/cmd/heddle/internal/report"
)

// TestInvalidDocuments builds from input that is invalid in part, in each mode.
func TestInvalidDocuments(t *testing.T) {
	inTempDir(t)
	writeFile(t, "d.jsonl", strings.Repeat(`{"id":"a","text":"red loom"}`+"\n", 150)+"{\"id\":\n"+`{"text":"blue"}`+"\n")
	wantFailure(t, heddle(t, "index", "build", "-o", "d.hdl", "d.jsonl"), exitCorrupt, "d.jsonl:151: the JSON value is cut off")
	wantFailure(t, heddle(t, "index", "build", "-o", "d.hdl", "--skip-invalid", "--max-invalid", "0", "d.jsonl"), exitCorrupt, "the limit is 0 %")
	for _, flag := range []string{"--skip-invalid", "--invalid=skip"} {
		r := heddle(t, "index", "build", "-o", "d.hdl", flag, "d.jsonl")
		if r.code != 0 || !strings.HasSuffix(strings.TrimSpace(r.stdout), ", 1 named by their lines, 149 with the name of another, 1 invalid, 1 skipped") {
			t.Errorf("%s: exit %d, output %q", flag, r.code, r.stdout)
		}
		if want := "invalid documents: 1 (1 unreadable), skipped: 1; the first: d.jsonl:151: the JSON value is cut off"; !strings.Contains(r.stderr, want) {
			t.Errorf("%s: stderr %q, want %q", flag, r.stderr, want)
		}
	}
	writeFile(t, "d.tsv", strings.Repeat("a\tred loom\n", 150)+"b\tcaf\xe9\nno name\n")
	wantFailure(t, heddle(t, "index", "build", "-o", "d.hdl", "d.tsv"), exitCorrupt, "d.tsv:151: invalid UTF-8: byte 5 of the document is 0xe9; 2 of 152 documents are invalid")
	wantFailure(t, heddle(t, "index", "build", "-o", "d.hdl", "--invalid", "fail", "--max-invalid", "1", "d.tsv"), exitCorrupt, "d.tsv:151: ")
	var b report.Build
	if err := json.Unmarshal([]byte(heddle(t, "index", "build", "-o", "d.hdl", "--max-invalid", "0.1", "--json", "d.tsv").stdout), &b); err != nil {
		t.Fatal(err)
	}
	first := b.Invalid.First
	b.Invalid.First = ""
	if want := (report.Invalid{Encoding: 1, Tabs: 1}); b.Invalid != want || b.Documents != 152 || b.Unnamed != 1 || !strings.HasPrefix(first, "d.tsv:151: ") {
		t.Errorf("%+v, first %q", b, first)
	}
	wantFailure(t, heddle(t, "index", "build", "-o", "d.hdl", "--invalid", "drop", "d.tsv"), exitUsage, "not one of replace, skip, fail")
	wantFailure(t, heddle(t, "index", "build", "-o", "d.hdl", "--max-invalid", "2", "d.tsv"), exitUsage, "not a share from 0 to 1")
}

// TestForeignOutput: no build replaces a file of another program without --force.
func TestForeignOutput(t *testing.T) {
	inTempDir(t)
	writeFile(t, "a.csv", "n\n1\n")
	writeFile(t, "a.tsv", "a\tx\na\ty\n")
	for _, args := range [][]string{{"index", "build", "-o", "notes.txt", "a.tsv"}, {"bitmap", "build", "-o", "notes.txt", "a.csv"}} {
		writeFile(t, "notes.txt", "my notes")
		wantFailure(t, heddle(t, args...), exitFailure, "notes.txt is not a file of heddle: choose another output, or remove it (--force replaces it)")
		r := heddle(t, append(args, "--force")...)
		if r.code != 0 {
			t.Errorf("%v --force: exit %d, %s", args, r.code, r.stderr)
		}
		if duplicate := `documents with the name of an earlier document: 1; the first: "a", document 1`; args[0] == "index" && !strings.Contains(r.stderr, duplicate) {
			t.Errorf("stderr %q, want %q", r.stderr, duplicate)
		}
		if r := heddle(t, args...); r.code != 0 {
			t.Errorf("again: exit %d, %s", r.code, r.stderr)
		}
	}
}
