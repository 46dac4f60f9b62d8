package structure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestPublicTypes finds types of internal packages in the exported declarations of package
// engine: users of the package cannot name them.
func TestPublicTypes(t *testing.T) {
	files, err := filepath.Glob("../../engine/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no files of package engine", err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range internalTypes(f) {
			t.Errorf("%v: an exported declaration has the type %s.%s of an internal package", fset.Position(n.Pos()), n.X, n.Sel)
		}
	}
}

// TestInternalTypes finds the types in an example.
func TestInternalTypes(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
import ("heddle/engine/internal/cost"; "heddle/engine/plan")
type A struct { M cost.Metric; p plan.Info; own cost.Kind }
type B = cost.Book
type c struct { M cost.Metric }
type D interface { F(cost.Model) }
func E(plan.Info) []cost.Sample { var m cost.Metric; return nil }
func (a *A) G(f func(cost.Fit)) {}
func (a A) h(cost.Metric) {}
func (c c) I(cost.Metric) {}
var J cost.Features
`, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range internalTypes(f) {
		got = append(got, n.Sel.Name)
	}
	if want := "Metric Book Model Sample Fit Features"; strings.Join(got, " ") != want {
		t.Errorf("found %s, want %s", got, want)
	}
}

// internalTypes returns the names from internal packages in the exported declarations of f,
// bodies of functions and fields that are not exported left out.
func internalTypes(f *ast.File) (found []*ast.SelectorExpr) {
	ast.FileExports(f)
	internal := map[string]bool{}
	for _, i := range f.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		if name := path[strings.LastIndex(path, "/")+1:]; strings.Contains(path, "/internal/") {
			if i.Name != nil {
				name = i.Name.Name
			}
			internal[name] = true
		}
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			if fn.Recv != nil && !exported(fn.Recv.List[0].Type) {
				continue
			}
			fn.Body = nil
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && internal[x.Name] {
					found = append(found, s)
				}
			}
			return true
		})
	}
	return found
}

// exported tells whether the type of a receiver is exported.
func exported(receiver ast.Expr) bool {
	if p, ok := receiver.(*ast.StarExpr); ok {
		receiver = p.X
	}
	if g, ok := receiver.(*ast.IndexExpr); ok {
		receiver = g.X
	}
	name, ok := receiver.(*ast.Ident)
	return ok && name.IsExported()
}
