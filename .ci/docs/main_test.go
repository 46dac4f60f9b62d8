package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTree builds the site of this tree: all links lead somewhere.
func TestTree(t *testing.T) {
	out, err := exec.Command("git", "-C", "../..", "ls-files", "*.md").Output()
	if err != nil {
		t.Skipf("no git here: %v", err)
	}
	dir := t.TempDir()
	if err := build("../..", dir, strings.Fields(string(out))); err != nil {
		t.Error(err)
	}
	if readme, err := os.ReadFile("../../README.md"); err != nil || strings.Count(string(readme), "\n") > 200 {
		t.Errorf("README.md has %d lines, at most 200 are read: %v", strings.Count(string(readme), "\n"), err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "engine", "server", "index.html"))
	if err != nil || !strings.Contains(string(text), `<h2 id="measure">`) || !strings.Contains(string(text), `href="../../engine/RELEASES.html"`) || !strings.Contains(string(text), "<table>") {
		t.Errorf("page of the server: %v, %d bytes", err, len(text))
	}
}

func TestLinks(t *testing.T) {
	root, out := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("README.md", "# Top\n\n[a](sub/a.md#two-words) [b](sub/a.md#absent) [c](none.md) [d](https://example.org/x) ![e](sub/e.svg) [f](sub) [g](#top)\n")
	write("sub/a.md", "# A & B\n\n## Two `words`\n\n## Two words\n\n[up](../README.md) [second](#two-words-1)\n")
	write("sub/e.svg", "<svg/>")
	err := build(root, out, []string{"README.md", "sub/a.md"})
	if err == nil || err.Error() != "README.md: sub/a.md#absent: no such heading\nREADME.md: none.md: no such file" {
		t.Errorf("faults: %v", err)
	}
	for name, parts := range map[string][]string{
		"index.html": {`<title>Top – heddle</title>`, `href="sub/a.html#two-words"`, `src="sub/e.svg"`, `href="https://example.org/x"`},
		"sub/a.html": {`<title>A &amp; B – heddle</title>`, `href="../index.html"`, `id="two-words-1"`},
		"sub/e.svg":  {"<svg/>"},
	} {
		text, err := os.ReadFile(filepath.Join(out, name))
		for _, part := range parts {
			if err != nil || !strings.Contains(string(text), part) {
				t.Errorf("%s lacks %s: %v", name, part, err)
			}
		}
	}
}
