package main

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write heddle.h")

// TestHeader: heddle.h is types.h and the exported functions with their comments.
func TestHeader(t *testing.T) {
	want := header(t)
	if *update {
		if err := os.WriteFile("heddle.h", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("heddle.h"); err != nil || string(got) != want {
		t.Errorf("heddle.h is not up to date (%v): go test ./engine/capi -run TestHeader -update", err)
	}
}

func header(t *testing.T) string {
	types, err := os.ReadFile("types.h")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("/* Code generated from types.h and the Go files beside it; DO NOT EDIT. */\n")
	b.WriteString("#ifndef HEDDLE_H\n#define HEDDLE_H\n\n")
	b.Write(types)
	b.WriteString("\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n")
	for _, name := range []string{"open.go", "search.go", "table.go", "collection.go", "files.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "heddle_") {
				comment := strings.ReplaceAll(strings.TrimSpace(fn.Doc.Text()), "\n", "\n * ")
				b.WriteString("\n/* " + strings.ReplaceAll(comment, " \n", "\n") + " */\n" + prototype(t, fn))
			}
		}
	}
	b.WriteString("\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n")
	return b.String()
}

// prototype is the declaration of a function in C.
func prototype(t *testing.T, fn *ast.FuncDecl) string {
	var params []string
	for _, field := range fn.Type.Params.List {
		for _, name := range field.Names {
			params = append(params, cType(t, field.Type)+name.Name)
		}
	}
	if params == nil {
		params = []string{"void"}
	}
	result := "void "
	if fn.Type.Results != nil {
		result = cType(t, fn.Type.Results.List[0].Type)
	}
	return result + fn.Name.Name + "(" + strings.Join(params, ", ") + ");\n"
}

// constants are the names of const.h.
var constants = map[string]string{
	"const_char": "const char", "const_text": "const char *const", "const_uint32": "const uint32_t", "const_control": "const heddle_control",
	"const_queries": "const heddle_queries", "const_aggregation": "const heddle_aggregation",
}

// cType is a type in C, up to the name that follows.
func cType(t *testing.T, e ast.Expr) string {
	switch x := e.(type) {
	case *ast.StarExpr:
		return cType(t, x.X) + "*"
	case *ast.SelectorExpr:
		if c := constants[x.Sel.Name]; c != "" {
			return c + " "
		}
		return x.Sel.Name + " "
	}
	t.Fatalf("type %T", e)
	return ""
}

// TestExports: each exported function begins with heddle_, and only these do.
func TestExports(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	exports := 0
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		exports += strings.Count(string(source), "\n//export heddle_")
	}
	functions := len(regexp.MustCompile(`(?m)^\w+ .*heddle_\w+\(.*\);$`).FindAllString(header(t), -1))
	if functions != exports || exports < 20 {
		t.Errorf("%d exported functions, %d in heddle.h", exports, functions)
	}
}
