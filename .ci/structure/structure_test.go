// Package structure checks the shape of the repository: its top level, the lengths of files
// and the direction of imports.
package structure

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// The lines that a file may have, without a bound for generated files and test data, and its bytes.
const (
	mostLines       = 400
	mostTestLines   = 500
	mostKernelLines = 300
	mostBytes       = 2 << 20
)

// top is everything that the top level may hold, beside names that begin with a dot.
var top = []string{"engine", "cl", "hostfallback", "codec", "config", "testdata", "go.mod", "go.sum", "Makefile", "README.md", "LICENSE"}

// layers are the parts of the module from the bottom up, as path prefixes. A package belongs to
// the part with the longest prefix of its path. It imports packages of its own part and of lower
// layers, and no other part of its own layer.
var layers = []struct {
	parts []string
}{
	{parts: []string{"codec", "config", "engine/file", "engine/syntax"}},
	{parts: []string{"engine/plan"}},
	{parts: []string{"cl", "hostfallback"}},
	{parts: []string{"engine/index", "engine/table", "engine/observe", "engine/internal/layout"}},
	{parts: []string{"engine/collection"}},
	{parts: []string{"engine/internal"}},
	{parts: []string{"engine/failure"}},
	{parts: []string{"engine/internal/filter"}},
	{parts: []string{"engine/internal/facet", "engine/internal/fetch", "engine/internal/order", "engine/internal/suggest"}},
	{parts: []string{"engine/internal/part"}},
	{parts: []string{"engine/internal/coordinator", "engine/internal/segments"}},
	{parts: []string{"engine"}},
	{parts: []string{"engine/api", "engine/capi", "engine/python"}},
	{parts: []string{"engine/bench"}},
	{parts: []string{"engine/server", "engine/console", "engine/cluster"}},
	{parts: []string{"engine/cluster/collections", "engine/cluster/member"}},
	{parts: []string{"engine/cmd"}},
}

// upward are the imports of a higher layer that exist for a reason.
var upward = map[[2]string]string{
	{"engine/plan/plantest/ranktest", "engine/index/bm25"}: "the conformance suite compares rankings with the formula of BM25",
}

type pkg struct {
	ImportPath string
	Imports    []string
}

// packages returns all packages of the module, without the module's name.
func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir, cmd.Stderr = "../..", os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // the files of engine/capi need cgo
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		p.ImportPath = strings.TrimPrefix(p.ImportPath, "heddle/")
		own := p.Imports[:0]
		for _, i := range p.Imports {
			if rest, ok := strings.CutPrefix(i, "heddle/"); ok {
				own = append(own, rest)
			}
		}
		p.Imports = own
		all = append(all, p)
	}
}

// part returns the part of a package and its layer; -1 if there is none.
func part(p string) (prefix string, layer int) {
	layer = -1
	for n, l := range layers {
		for _, x := range l.parts {
			if (p == x || strings.HasPrefix(p, x+"/")) && len(x) > len(prefix) {
				prefix, layer = x, n
			}
		}
	}
	return prefix, layer
}

func TestImports(t *testing.T) {
	seen := map[[2]string]bool{}
	for _, p := range packages(t) {
		from, layer := part(p.ImportPath)
		if layer < 0 {
			t.Errorf("%s is in no layer: add it to layers", p.ImportPath)
			continue
		}
		for _, i := range p.Imports {
			to, below := part(i)
			if to == from || below < layer {
				continue
			}
			if edge := [2]string{p.ImportPath, i}; upward[edge] != "" {
				seen[edge] = true
			} else {
				t.Errorf("%s imports %s, which is not in a lower layer", p.ImportPath, i)
			}
		}
	}
	for edge := range upward {
		if !seen[edge] {
			t.Errorf("%s no longer imports %s: remove it from upward", edge[0], edge[1])
		}
	}
}

// files returns the files of the repository.
func files(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir, cmd.Stderr = "../..", os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("not a git repository: %v", err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

func TestTopLevel(t *testing.T) {
	for _, f := range files(t) {
		name, _, _ := strings.Cut(f, "/")
		if !strings.HasPrefix(name, ".") && !slices.Contains(top, name) {
			t.Errorf("%s: the top level holds %s and names that begin with a dot", f, strings.Join(top, " "))
		}
	}
}

// TestSizes finds files of programs and data that were added by mistake.
func TestSizes(t *testing.T) {
	for _, name := range files(t) {
		if info, err := os.Stat("../../" + name); err == nil && info.Size() > mostBytes {
			t.Errorf("%s has %d bytes, at most %d are allowed", name, info.Size(), mostBytes)
		}
	}
}

func TestLengths(t *testing.T) {
	for _, f := range files(t) {
		most := mostLines
		switch path.Ext(f) {
		case ".cl":
			most = mostKernelLines
		case ".go":
			if strings.HasSuffix(f, "_test.go") {
				most = mostTestLines
			}
		default:
			continue
		}
		text, err := os.ReadFile("../../" + f)
		if errors.Is(err, os.ErrNotExist) { // deleted in the working tree
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte("\n")); n > most && !generated(text) && !strings.Contains(f, "testdata/") {
			t.Errorf("%s has %d lines, at most %d", f, n, most)
		}
	}
}

func generated(text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.HasPrefix(first, []byte("// Code generated ")) && bytes.HasSuffix(first, []byte(" DO NOT EDIT."))
}
