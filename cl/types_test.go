package cl

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"
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
