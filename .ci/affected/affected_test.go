package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// files are a library with a table of functions, its users, and a program.
var files = map[string]string{
	"go.mod": "module weave\n\ngo 1.26\n",
	"yarn/yarn.go": `package yarn

import "sync/atomic"

// Length is the usual length.
const Length = 8

type entry struct {
	name  string
	twist func(int) int
}

var table = []entry{{name: "wool", twist: wool}}

func wool(n int) int { return n + 1 }

// Twist calls the function of the table.
func Twist(n int) int { return table[0].twist(n) }

// Name reads the table.
func Name() string { return table[0].name }

// Spool has two methods.
type Spool[T any] struct {
	Width int
	last  atomic.Pointer[T]
}

func (s *Spool[T]) Last() *T { return s.last.Load() }

func (s *Spool[T]) Free() bool { return true }
`,
	"yarn/yarn_test.go":   "package yarn\n",
	"yarn/README.md":      "Yarn.\n",
	"yarn/dyes/red":       "red",
	"calls/calls.go":      "package calls\n\nimport \"weave/yarn\"\n\nvar N = yarn.Twist(1)\n",
	"names/names.go":      "package names\n\nimport \"weave/yarn\"\n\nvar N = yarn.Name()\n",
	"lengths/lengths.go":  "package lengths\n\nimport \"weave/yarn\"\n\nvar N = yarn.Length\n",
	"spools/spools.go":    "package spools\n\nimport \"weave/yarn\"\n\nvar s yarn.Spool[int]\n\nfunc Last() int { return *s.Last() }\n",
	"frees/frees.go":      "package frees\n\nimport \"weave/yarn\"\n\nfunc Free(s *yarn.Spool[int]) bool { return interface{ Free() bool }(s).Free() }\n",
	"far/far.go":          "package far\n\nimport \"weave/calls\"\n\nvar N = calls.N\n",
	"program/program.go":  "package main\n\nimport \"weave/yarn\"\n\nfunc main() { yarn.Twist(1) }\n",
	"knots/knots.go":      "package knots\n",
	"knots/knots_test.go": "package knots\n\nimport _ \"weave/yarn\"\n",
}

// everyone is all users of yarn.
const everyone = "calls frees lengths names spools yarn*"

func TestAffected(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range files {
		write(t, name, text)
	}
	git(t, "init", "-q")
	git(t, "add", "-A")
	git(t, "-c", "user.name=loom", "-c", "user.email=loom@example.org", "commit", "-qm", "first")
	for _, c := range []struct {
		name, file, old, new string
		want                 string // changed packages have a star
	}{
		{"a function of a table", "yarn/yarn.go", "n + 1", "n + 2", "calls yarn*"},
		{"a field of the table", "yarn/yarn.go", "name  string", "name  string // short", "calls names yarn*"},
		{"a constant", "yarn/yarn.go", "= 8", "= 9", "lengths yarn*"},
		{"a method of a generic type", "yarn/yarn.go", "s.last.Load()", "s.last.Swap(nil)", "spools yarn*"},
		{"a method that is called by an interface", "yarn/yarn.go", "return true", "return false", "frees yarn*"},
		{"a removed function", "yarn/yarn.go", "// Name reads the table.\nfunc Name() string { return table[0].name }\n", "", "names yarn*"},
		{"a renamed method", "yarn/yarn.go", ") Last()", ") Late()", "spools yarn*"},
		{"an import", "yarn/yarn.go", `import "sync/atomic"`, "import (\n\t_ \"os\"\n\t\"sync/atomic\"\n)", everyone},
		{"an initialiser", "yarn/yarn.go", "func wool", "func init() { table = nil }\n\nfunc wool", everyone},
		{"a test", "yarn/yarn_test.go", "package yarn\n", "package yarn\n\nvar N int\n", "yarn*"},
		{"a text", "yarn/README.md", "Yarn", "Wool", "yarn*"},
		{"a file in a folder below", "yarn/dyes/red", "red", "dark red", everyone},
		{"another file", "yarn/more.go", "", "package yarn\n\nvar More = 1\n", "yarn*"},
		{"a program", "program/program.go", "(1)", "(2)", "program*"},
		{"a test that imports", "knots/knots_test.go", "_", "yarn", "knots*"},
		{"the module", "go.mod", "1.26", "1.25", "calls* far* frees* knots* lengths* names* program* spools* yarn*"},
		{"a file outside of packages", "README", "", "Looms.\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, c.file, strings.Replace(files[c.file], c.old, c.new, 1))
			defer restore(t, c.file)
			if got := find(t, dir); got != c.want {
				t.Errorf("affected packages: %q, want %q", got, c.want)
			}
		})
	}
}

// find returns the affected packages in one line.
func find(t *testing.T, dir string) string {
	t.Helper()
	edits, err := differences("HEAD")
	if err != nil {
		t.Fatal(err)
	}
	packages, err := list([]string{"./..."})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := affected(dir, packages, edits)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, path := range slices.Sorted(maps.Keys(lines)) {
		name := strings.TrimPrefix(path, "weave/")
		if lines[path] == "changed" {
			name += "*"
		}
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func restore(t *testing.T, name string) {
	t.Helper()
	if files[name] == "" {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		return
	}
	write(t, name, files[name])
}

func git(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", args[0], err, out)
	}
}

// A line of a header of git diff that cannot be read is an error, not a change of no line.
func TestHunk(t *testing.T) {
	for header, want := range map[string]span{
		"@@ -10,2 +12,3 @@ func": {12, 14},
		"@@ -10 +12 @@":          {12, 12},
		"@@ -10,2 +9,0 @@":       {9, 10},
	} {
		if got, err := hunk(header); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", header, got, err, want)
		}
	}
	if _, err := hunk("@@ broken"); err == nil {
		t.Error("a broken header has no error")
	}
}
