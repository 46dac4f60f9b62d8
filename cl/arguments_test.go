package cl

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/cl/internal/device"
	"heddle/engine/plan/testneeds"
)

// TestArguments compares the arguments of every kernel with the parameters in the sources, in both
// shapes, with and without the counting of loads, and with every feature alone and all together:
// number, order, names and types.
func TestArguments(t *testing.T) {
	testneeds.Host(t) // it reads sources alone
	testneeds.Sequential(t)
	kernels := 0
	for _, op := range everything {
		for _, p := range op.Programs {
			for _, with := range featureSets(op.Features) {
				for _, serial := range []bool{false, true} {
					for _, counts := range []bool{false, true} {
						found := parameters(t, everything.Source(device.Tuning{Serial: serial}, counts, device.KernelID{Name: p.Name(), With: with}))
						has := func(macro string) bool {
							i := slices.Index(op.Features, macro)
							return i >= 0 && with>>i&1 != 0 || macro == "COUNT_LOADS" && counts
						}
						for _, f := range p.Kernels {
							var own []string
							for _, x := range device.Parameters(f.Arguments(), has) {
								own = append(own, x.Type+" "+x.Name)
							}
							want, ok := found[f.ID().Name]
							if !ok && serial && (strings.HasSuffix(f.ID().Name, "_ahead") || f.ID().Name == "progress") {
								continue // the serial shape does not look back
							}
							if kernels++; !ok || !slices.Equal(own, want) {
								t.Errorf("%s with features %b, serial %t, counts %t:\narguments  %s\nparameters %s", f.ID().Name, with, serial, counts, own, want)
							}
						}
					}
				}
			}
		}
	}
	if kernels < 500 {
		t.Errorf("%d comparisons", kernels)
	}
}

// TestWrongArguments shows that names, types and order count.
func TestWrongArguments(t *testing.T) {
	got := parameters(t, "#define BOTH uint a, __local uint *b\n#if 0\n__kernel void f(uint x) {}\n#elif !defined(X) && 2 > 1\n__kernel void f(BOTH) {}\n#endif\n")
	if fmt.Sprint(got) != "map[f:[uint a local b]]" {
		t.Error(got)
	}
	for _, wrong := range []any{struct{ a int }{}, struct{ a, b int }{}, struct {
		b device.LocalBytes
		a int
	}{}, struct {
		a int
		c device.LocalBytes
	}{}} {
		var own []string
		for _, x := range device.Parameters(reflect.TypeOf(wrong), nil) {
			own = append(own, x.Type+" "+x.Name)
		}
		if slices.Equal(own, got["f"]) {
			t.Errorf("%T passes", wrong)
		}
	}
}

// featureSets returns no feature, each one alone, and all.
func featureSets(names []string) []device.Features {
	sets := []device.Features{0, 1<<len(names) - 1}
	for i := range names {
		sets = append(sets, 1<<i)
	}
	return sets
}

var (
	comments  = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	signature = regexp.MustCompile(`(?s)__kernel\b.*?\bvoid\s+(\w+)\s*\(([^)]*)\)`)
	directive = regexp.MustCompile(`^\s*#\s*(\w+)\s*(.*)$`)
	macro     = regexp.MustCompile(`^(\w+)(\([^)]*\))?\s*(.*)$`)
	word      = regexp.MustCompile(`\w+`)
	defined   = regexp.MustCompile(`\bdefined\s+(\w+)`)
)

// parameters returns the parameters of each kernel of a source: type and name, as device.Parameter has them.
func parameters(t *testing.T, source string) map[string][]string {
	t.Helper()
	text, macros := preprocess(t, source)
	found := map[string][]string{}
	for _, m := range signature.FindAllStringSubmatch(text, -1) {
		list := expand(m[2], macros)
		for p := range strings.SplitSeq(list, ",") {
			words := word.FindAllString(p, -1)
			kind := "uint"
			switch {
			case strings.Contains(p, "__local"):
				kind = "local"
			case strings.ContainsAny(p, "*") || slices.Contains(words, "state_t"):
				kind = "buffer"
			case slices.Contains(words, "uint4"):
				kind = "uint4"
			case len(words) != 2 || words[0] != "uint":
				kind = "unknown"
			}
			found[m[1]] = append(found[m[1]], kind+" "+words[len(words)-1])
		}
	}
	return found
}

// preprocess keeps the lines whose conditions hold and returns the macros without parameters.
func preprocess(t *testing.T, source string) (string, map[string]string) {
	var out strings.Builder
	macros := map[string]string{}
	type branch struct{ on, taken bool }
	var stack []branch
	on := func() bool { return !slices.ContainsFunc(stack, func(b branch) bool { return !b.on }) }
	source = strings.ReplaceAll(comments.ReplaceAllString(source, " "), "\\\n", " ")
	for line := range strings.SplitSeq(source, "\n") {
		m := directive.FindStringSubmatch(line)
		if m == nil {
			if on() {
				out.WriteString(line + "\n")
			}
			continue
		}
		last := len(stack) - 1
		switch m[1] {
		case "if", "ifdef", "ifndef":
			text := m[2]
			if m[1] != "if" {
				text = map[string]string{"ifdef": "defined ", "ifndef": "!defined "}[m[1]] + text
			}
			holds := on() && truth(t, text, macros)
			stack = append(stack, branch{holds, holds})
		case "elif":
			stack[last].on = false
			holds := !stack[last].taken && len(stack) > 0
			if stack = stack[:last]; holds && on() {
				holds = truth(t, m[2], macros)
			}
			stack = append(stack, branch{holds, holds})
		case "else":
			stack[last].on = !stack[last].taken
		case "endif":
			stack = stack[:last]
		case "define", "undef":
			if d := macro.FindStringSubmatch(m[2]); on() && d != nil {
				if macros[d[1]] = strings.TrimSpace(d[3]); m[1] == "undef" {
					delete(macros, d[1])
				}
			}
		}
	}
	return out.String(), macros
}

// expand replaces macros without parameters, also in their own texts.
func expand(text string, macros map[string]string) string {
	for range 8 {
		text = word.ReplaceAllStringFunc(text, func(w string) string {
			if body, ok := macros[w]; ok {
				return body
			}
			return w
		})
	}
	return text
}

// truth evaluates a condition of the preprocessor.
func truth(t *testing.T, text string, macros map[string]string) bool {
	text = defined.ReplaceAllString(text, "defined($1)")
	e, err := parser.ParseExpr(text)
	if err != nil {
		t.Fatalf("condition %q: %v", text, err)
	}
	var value func(e ast.Expr) int
	asInt := map[bool]int{true: 1}
	value = func(e ast.Expr) int {
		switch e := e.(type) {
		case *ast.ParenExpr:
			return value(e.X)
		case *ast.CallExpr:
			_, ok := macros[e.Args[0].(*ast.Ident).Name]
			return asInt[ok]
		case *ast.UnaryExpr:
			return asInt[value(e.X) == 0]
		case *ast.BasicLit:
			n, _ := strconv.Atoi(e.Value)
			return n
		case *ast.Ident:
			body, ok := macros[e.Name]
			if !ok || body == "" {
				return 0
			}
			inner, err := parser.ParseExpr(body)
			if err != nil {
				t.Fatalf("macro %s: %v", e.Name, err)
			}
			return value(inner)
		case *ast.BinaryExpr:
			x, y := value(e.X), value(e.Y)
			switch e.Op {
			case token.LAND:
				return asInt[x != 0 && y != 0]
			case token.LOR:
				return asInt[x != 0 || y != 0]
			case token.EQL:
				return asInt[x == y]
			case token.NEQ:
				return asInt[x != y]
			case token.GTR:
				return asInt[x > y]
			case token.LSS:
				return asInt[x < y]
			case token.GEQ:
				return asInt[x >= y]
			case token.LEQ:
				return asInt[x <= y]
			case token.MUL:
				return x * y
			case token.QUO:
				return x / max(y, 1)
			case token.SHR:
				return x >> y
			case token.SUB:
				return x - y
			case token.ADD:
				return x + y
			}
		}
		t.Fatalf("condition %q has %T", text, e)
		return 0
	}
	return value(e) != 0
}
