package plan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// letters is a source whose list 0 is "a" and has one document, whose list 1 is
// "b" and has two, and so on; "o" to "z" are empty.
func letters() *Source {
	src := &Source{Docs: 100}
	for i := range uint32(26) {
		n := i + 1
		if i >= 14 {
			n = 0
		}
		src.Lists = append(src.Lists, List{Len: n})
	}
	return src
}

// read makes an expression of prefix notation: &(a|(bc)-(cd)).
func read(s string) Expr {
	e, rest := readOne(s)
	if rest != "" {
		panic("rest " + rest)
	}
	return e
}

func readOne(s string) (Expr, string) {
	if s[0] >= 'a' && s[0] <= 'z' {
		return Expr{List: Handle(s[0] - 'a')}, s[1:]
	}
	e := Expr{Op: map[byte]OpCode{'&': OpAnd, '|': OpOr, '-': OpAndNot}[s[0]]}
	for s = s[2:]; s[0] != ')'; {
		var a Expr
		a, s = readOne(s)
		e.Args = append(e.Args, a)
	}
	return e, s[1:]
}

func write(e Expr) string {
	if e.Op == OpList {
		return string(rune('a' + e.List))
	}
	var b strings.Builder
	b.WriteString(map[OpCode]string{OpAnd: "&(", OpOr: "|(", OpAndNot: "-("}[e.Op])
	for _, a := range e.Args {
		b.WriteString(write(a))
	}
	return b.String() + ")"
}

func TestSimplify(t *testing.T) {
	src := letters()
	for in, want := range map[string]string{
		"a":                  "a",
		"z":                  "|()",
		"&()":                "|()",
		"|()":                "|()",
		"-()":                "|()",
		"&(a)":               "a",
		"-(a)":               "a",
		"&(ba)":              "&(ab)",
		"|(cab)":             "|(abc)",
		"&(abab)":            "&(ab)",
		"&(az)":              "|()",
		"|(az)":              "a",
		"-(az)":              "a",
		"-(za)":              "|()",
		"-(aa)":              "|()",
		"-(ab)":              "-(ab)",
		"&(a&(b&(c)))":       "&(abc)",
		"|(a|(b|(cz)))":      "|(abc)",
		"-(a|(cb))":          "-(abc)",
		"-(-(ab)c)":          "-(abc)",
		"-(-(ab)b)":          "-(ab)",
		"&(-(ac)-(bd))":      "-(&(ab)cd)",
		"&(-(ab)b)":          "|()",
		"&(a-(bz)c)":         "&(abc)",
		"-(|(abc)b)":         "-(|(ac)b)",
		"-(|(ab)|(ab))":      "|()",
		"-(|(ab)|(bc))":      "-(abc)",
		"|(&(ab)&(ba))":      "&(ab)",
		"|(c&(ab)a)":         "|(ac&(ab))",
		"&(|(ab)|(ba)c)":     "&(c|(ab))",
		"-(a-(bc))":          "-(a-(bc))",
		"-(&(ab)&(ab))":      "|()",
		"|(-(ab)-(ab)-(ac))": "|(-(ab)-(ac))",
	} {
		got := read(in).Simplify(src)
		if write(got) != want {
			t.Errorf("%s becomes %s, want %s", in, write(got), want)
		}
		if again := got.Simplify(src); write(again) != want {
			t.Errorf("%s, simplified twice, becomes %s", in, write(again))
		}
	}
}

func TestConjunction(t *testing.T) {
	src := letters()
	for in, want := range map[string]string{
		"a": "[0]", "z": "[]", "&(abc)": "[0 1 2]", "&(b&(ca))": "[0 1 2]",
		"|(ab)": "no", "-(ab)": "no", "&(a|(bc))": "no", "&(-(ab)c)": "no",
	} {
		got := "no"
		if handles, ok := read(in).Simplify(src).Conjunction(nil); ok {
			got = fmt.Sprint(handles)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// has evaluates e for one document: bit i of doc is set if list i contains it.
func has(e Expr, doc uint32) bool {
	if e.Op == OpList {
		return doc>>e.List&1 == 1
	}
	if len(e.Args) == 0 {
		return false
	}
	r := has(e.Args[0], doc)
	for _, a := range e.Args[1:] {
		switch x := has(a, doc); e.Op {
		case OpAnd:
			r = r && x
		case OpOr:
			r = r || x
		case OpAndNot:
			r = r && !x
		}
	}
	return r
}

// steps evaluates an expression for one document.
func steps(ops []Op, doc uint32) bool {
	var stack []bool
	for _, op := range ops {
		if op.Code == OpList {
			stack = append(stack, doc>>op.List&1 == 1)
			continue
		}
		x, y := stack[len(stack)-2], stack[len(stack)-1]
		stack = append(stack[:len(stack)-2], map[OpCode]bool{
			OpAnd: x && y, OpOr: x || y, OpAndNot: x && !y, OpNotAnd: y && !x}[op.Code])
	}
	return len(stack) == 1 && stack[0]
}

func randomExpr(r *rand.Rand, depth int) Expr {
	if depth == 0 || r.IntN(4) == 0 {
		return Expr{List: Handle(r.IntN(16))} // two of them empty
	}
	e := Expr{Op: OpAnd + OpCode(r.IntN(3))}
	for range r.IntN(5) {
		e.Args = append(e.Args, randomExpr(r, depth-1))
	}
	return e
}

// TestSimplifyKeepsMeaning compares the truth tables of random expressions, of
// their simplified form and of their operations.
func TestSimplifyKeepsMeaning(t *testing.T) {
	src := letters()
	r := rand.New(rand.NewPCG(5, 6))
	matched := 0
	for range 3000 {
		e := randomExpr(r, 1+r.IntN(5))
		s := e.Simplify(src)
		var f MatchBatch
		f.Reset()
		if err := f.AddExpr(src, e); err != nil {
			t.Fatalf("%s: %v", write(e), err)
		}
		if err := f.Validate(src); err != nil {
			t.Fatalf("%s: %v", write(e), err)
		}
		for range 100 {
			doc := r.Uint32() & (1<<14 - 1)
			want := has(e, doc)
			if has(s, doc) != want || matches(&f, doc) != want {
				t.Fatalf("%s becomes %s, steps %v; they differ for %b", write(e), write(s), f.Ops, doc)
			}
			if want {
				matched++
			}
		}
	}
	if matched == 0 {
		t.Error("nothing matches: nothing is tested")
	}
}

// matches evaluates the only query of a batch for a document.
func matches(b *MatchBatch, doc uint32) bool {
	if b.Kind() == Expressions && len(b.Ops) > 0 {
		return steps(b.Ops, doc)
	}
	for _, h := range b.Query(0) {
		if !has(Expr{List: h}, doc) {
			return false
		}
	}
	return len(b.Query(0)) > 0
}

// TestDepth has the worst tree there is: it needs one more set whenever the
// number of its lists doubles.
func TestDepth(t *testing.T) {
	src := &Source{Docs: 1 << 14}
	for range 1 << (MaxDepth + 1) {
		src.Lists = append(src.Lists, List{Len: 1})
	}
	next := Handle(0)
	var worst func(depth int, op OpCode) Expr
	worst = func(depth int, op OpCode) Expr {
		if depth == 1 {
			next++
			return Expr{List: next - 1}
		}
		return Expr{Op: op, Args: []Expr{worst(depth-1, OpAnd+OpOr-op), worst(depth-1, OpAnd+OpOr-op)}}
	}
	var f MatchBatch
	f.Reset()
	if err := f.AddExpr(src, worst(MaxDepth, OpAnd)); err != nil {
		t.Fatal(err)
	}
	if err := f.Validate(src); err != nil {
		t.Fatal(err)
	}
	if err := f.AddExpr(src, worst(MaxDepth+1, OpOr)); err == nil {
		t.Error("an expression that needs too many sets went through")
	}
	// A chain, however long and deep, needs two.
	chain := Expr{List: 0}
	for h := range Handle(1 << MaxDepth) {
		chain = Expr{Op: []OpCode{OpAnd, OpOr}[h%2], Args: []Expr{{List: h + 1}, chain}}
	}
	right := Expr{List: 0} // a NOT (b NOT (c NOT ...))
	for h := range Handle(1 << MaxDepth) {
		right = Expr{Op: OpAndNot, Args: []Expr{{List: h + 1}, right}}
	}
	for _, e := range []Expr{chain, right} {
		if s := e.Simplify(src); s.need > 3 {
			t.Errorf("a chain needs %d sets", s.need)
		}
		if err := f.AddExpr(src, e); err != nil {
			t.Error(err)
		}
	}
	if err := f.Validate(src); err != nil || f.Queries() != 3 {
		t.Errorf("%d expressions: %v", f.Queries(), err)
	}
}

func TestValidateExpressions(t *testing.T) {
	src := letters()
	list := Op{Code: OpList}
	deep := []Op{list}
	for range MaxDepth {
		deep = append([]Op{list}, append(deep, Op{Code: OpAnd})...)
	}
	for complaint, f := range map[string]MatchBatch{
		"do not cover":   {Offsets: make([]uint32, 2), OpOffsets: []uint32{0, 2}, Ops: []Op{list}},
		"not ascend":     {Offsets: make([]uint32, 4), OpOffsets: []uint32{0, 2, 1, 1}, Ops: []Op{list}},
		"unknown code 5": {Offsets: make([]uint32, 2), OpOffsets: []uint32{0, 1}, Ops: []Op{{Code: 5}}},
		"list 26 of 26":  {Offsets: make([]uint32, 2), OpOffsets: []uint32{0, 1}, Ops: []Op{{List: 26}}},
		"takes two sets": {Offsets: make([]uint32, 2), OpOffsets: []uint32{0, 2}, Ops: []Op{list, {Code: OpOr}}},
		"leaves 2 sets":  {Offsets: make([]uint32, 2), OpOffsets: []uint32{0, 2}, Ops: []Op{list, list}},
		"a stack of 14":  {Offsets: make([]uint32, 2), OpOffsets: []uint32{0, uint32(len(deep))}, Ops: deep},
	} {
		if err := f.Validate(src); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%v, want a complaint about %q", err, complaint)
		}
	}
	for _, f := range []MatchBatch{{}, {Offsets: []uint32{0}}, {Offsets: []uint32{0, 0, 0}, OpOffsets: []uint32{0, 0, 0}}} {
		if err := f.Validate(src); err != nil {
			t.Error(err)
		}
	}
}
