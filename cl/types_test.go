package cl

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"

	"heddle/cl/internal/device"
)

// TestTypesAreDocumented finds each field and method of the aliases in their documentation,
// since go doc shows no others.
func TestTypesAreDocumented(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "types.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	docs := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.TypeSpec); ok {
			docs[s.Name.Name] = s.Doc.Text()
		}
		return true
	})
	for name, of := range map[string]any{"Device": &Device{}, "Timing": Timing{}, "Keep": Keep{}, "TuneStep": TuneStep{}} {
		var members []string
		kind := reflect.TypeOf(of)
		for m := range kind.Methods() {
			members = append(members, m.Name)
		}
		if kind.Kind() == reflect.Struct {
			for f := range kind.Fields() {
				members = append(members, f.Name)
			}
		}
		for _, m := range members {
			if !strings.Contains(docs[name], "\t"+m) && !strings.Contains(docs[name], ", "+m+" ") {
				t.Errorf("the documentation of %s lacks %s", name, m)
			}
		}
		if len(members) == 0 {
			t.Errorf("%s has no fields and methods", name)
		}
	}
}

// TestSourceIncludes: a program depends on no file of the machine, so that its binary can be kept.
func TestSourceIncludes(t *testing.T) {
	for _, op := range everything {
		for _, p := range op.Programs {
			for _, with := range []device.Features{0, 1<<len(op.Features) - 1} {
				if text := everything.Source(device.TuningFor(""), false, device.KernelID{Name: p.Name(), With: with}); strings.Contains(text, "#include") || !strings.Contains(text, p.Name()) {
					t.Errorf("%s with %b includes a file", p.Name(), with)
				}
			}
		}
	}
}
