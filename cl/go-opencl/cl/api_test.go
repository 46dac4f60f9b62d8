package cl

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const upstreamList = "../upstream.txt"

// TestAPI checks that the package exports exactly what upstream.txt lists, so that
// programs for this package also build with upstream.
func TestAPI(t *testing.T) {
	want := readLines(t, upstreamList)
	if !slices.IsSorted(want) {
		t.Error("upstream.txt is not sorted")
	}
	got := exported(t, ".")
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("not in upstream.txt: %s", line)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("not in the package:  %s", line)
		}
	}
}

// TestUpstream checks upstream.txt against the sources of upstream.
func TestUpstream(t *testing.T) {
	dir := os.Getenv("HEDDLE_UPSTREAM_CL")
	if dir == "" {
		t.Skip("HEDDLE_UPSTREAM_CL does not name a folder with the sources of upstream's package")
	}
	upstream := exported(t, dir)
	for _, line := range readLines(t, upstreamList) {
		if !slices.Contains(upstream, line) {
			t.Errorf("not upstream: %s", line)
		}
	}
}

func readLines(t *testing.T, path string) []string {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// exported returns a sorted line for each exported constant, variable, type,
// function and method of the package in the folder. Names of parameters and values
// of constants are left out.
func exported(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				lines = append(lines, funcLine(t, d)...)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					lines = append(lines, specLines(t, d.Tok, spec)...)
				}
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

func funcLine(t *testing.T, d *ast.FuncDecl) []string {
	if !d.Name.IsExported() {
		return nil
	}
	receiver := ""
	if d.Recv != nil {
		receiver = "(" + typeText(t, d.Recv.List[0].Type) + ") "
		if !ast.IsExported(strings.Trim(receiver, "(*) ")) {
			return nil
		}
	}
	line := "func " + receiver + d.Name.Name + "(" + fieldTypes(t, d.Type.Params) + ")"
	switch results := fieldTypes(t, d.Type.Results); {
	case strings.Contains(results, ","):
		line += " (" + results + ")"
	case results != "":
		line += " " + results
	}
	return []string{line}
}

func specLines(t *testing.T, kind token.Token, spec ast.Spec) []string {
	var lines []string
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return nil
		}
		line := "type " + s.Name.Name + " "
		if st, ok := s.Type.(*ast.StructType); ok {
			return []string{line + "struct{" + publicFields(t, st) + "}"}
		}
		return []string{line + typeText(t, s.Type)}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() {
				lines = append(lines, strings.TrimSpace(kind.String()+" "+name.Name+" "+typeText(t, s.Type)))
			}
		}
	}
	return lines
}

func publicFields(t *testing.T, st *ast.StructType) string {
	var fields []string
	for _, f := range st.Fields.List {
		for _, name := range f.Names {
			if name.IsExported() {
				fields = append(fields, name.Name+" "+typeText(t, f.Type))
			}
		}
	}
	return strings.Join(fields, "; ")
}

func fieldTypes(t *testing.T, list *ast.FieldList) string {
	if list == nil {
		return ""
	}
	var types []string
	for _, f := range list.List {
		types = append(types, slices.Repeat([]string{typeText(t, f.Type)}, max(1, len(f.Names)))...)
	}
	return strings.Join(types, ", ")
}

func typeText(t *testing.T, expr ast.Expr) string {
	if expr == nil {
		return ""
	}
	var b bytes.Buffer
	if err := format.Node(&b, token.NewFileSet(), expr); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(b.String(), "interface{}", "any")
}
