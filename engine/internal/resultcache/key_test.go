package resultcache

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/codec"
	"heddle/engine/index/bm25"
	"heddle/engine/plan"
)

func TestKeyAnd(t *testing.T) {
	var k Key
	base := k.And(7, []plan.Handle{3, 1, 2}, false)
	for _, same := range [][]plan.Handle{{1, 2, 3}, {3, 3, 1, 2, 1}, {2, 3, 1}} {
		if got := k.And(7, same, false); !bytes.Equal(got, base) {
			t.Errorf("%v: key %x, want %x", same, got, base)
		}
	}
	distinct(t, map[string]Key{
		"1 2 3":            base,
		"another index":    k.And(8, []plan.Handle{1, 2, 3}, false),
		"count":            k.And(7, []plan.Handle{1, 2, 3}, true),
		"1 2":              k.And(7, []plan.Handle{1, 2}, false),
		"1 2 3 4":          k.And(7, []plan.Handle{1, 2, 3, 4}, false),
		"nothing":          k.And(7, nil, false),
		"count of nothing": k.And(7, nil, true),
		"0":                k.And(7, []plan.Handle{0}, false),
		"the last":         k.And(7, []plan.Handle{1<<32 - 1}, false),
	})
}

func distinct(t *testing.T, keys map[string]Key) {
	t.Helper()
	seen := make(map[string]string)
	for name, k := range keys {
		if other, ok := seen[string(k)]; ok {
			t.Errorf("%q and %q have the same key %x", name, other, k)
		}
		seen[string(k)] = name
	}
}

// lists is a source of lists of 1, 2, 3, … documents.
func lists(t *testing.T, n int) *plan.Source {
	t.Helper()
	src := &plan.Source{Docs: 100}
	docs := make([]uint32, n)
	for i := range docs {
		docs[i] = uint32(i)
		if _, err := src.Append(codec.Raw, docs[:i+1], codec.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	return src
}

func TestKeyBoolean(t *testing.T) {
	src := lists(t, 8)
	list := func(h plan.Handle) plan.Expr { return plan.Expr{List: h} }
	op := func(code plan.OpCode, args ...plan.Expr) plan.Expr { return plan.Expr{Op: code, Args: args} }
	and, or, not := plan.OpAnd, plan.OpOr, plan.OpAndNot
	key := func(e plan.Expr, count bool) Key {
		var f plan.MatchBatch
		if err := f.AddExpr(src, e); err != nil {
			t.Fatal(err)
		}
		if f.Kind() == plan.Conjunctions {
			return Key(nil).And(7, f.Query(0), count)
		}
		return Key(nil).Boolean(7, f.Expression(0), count)
	}
	for _, same := range [][2]plan.Expr{
		{op(or, list(1), list(2)), op(or, list(2), list(1), list(2))},
		{op(or, list(1), op(or, list(2), list(3))), op(or, op(or, list(3), list(1)), list(2))},
		{op(and, op(or, list(1), list(2)), list(5)), op(and, list(5), list(5), op(or, list(2), list(1)))},
		{op(not, op(not, list(4), list(1)), list(2)), op(not, list(4), list(2), list(1))},
	} {
		if a, b := key(same[0], false), key(same[1], false); !bytes.Equal(a, b) {
			t.Errorf("%v and %v have keys %x and %x", same[0], same[1], a, b)
		}
	}
	for _, count := range []bool{false, true} {
		if a, b := key(op(and, list(3), list(1), op(and, list(2))), count), Key(nil).And(7, []plan.Handle{1, 2, 3}, count); !bytes.Equal(a, b) {
			t.Errorf("an expression that is an AND has key %x, the AND %x", a, b)
		}
		if a, b := key(op(or), count), Key(nil).And(7, nil, count); !bytes.Equal(a, b) {
			t.Errorf("the expression of nothing has key %x, the AND of nothing %x", a, b)
		}
	}
	distinct(t, map[string]Key{
		"1 or 2":         key(op(or, list(1), list(2)), false),
		"count 1 or 2":   key(op(or, list(1), list(2)), true),
		"1 or 3":         key(op(or, list(1), list(3)), false),
		"1 and 2":        key(op(and, list(1), list(2)), false),
		"count 1 and 2":  key(op(and, list(1), list(2)), true),
		"1 not 2":        key(op(not, list(1), list(2)), false),
		"2 not 1":        key(op(not, list(2), list(1)), false),
		"1 or 2 or 3":    key(op(or, list(1), list(2), list(3)), false),
		"(1 or 2) and 3": key(op(and, op(or, list(1), list(2)), list(3)), false),
		"1":              key(list(1), false),
	})
}

// TestKeyAmong distinguishes expressions over the same terms.
func TestKeyAmong(t *testing.T) {
	terms := []plan.Term{{List: 1, Weight: 3}, {List: 2, Weight: 4}}
	rank := func() Key { return Key(nil).Rank(7, Ranked{K: 10}, terms) }
	or := []plan.Op{{Code: plan.OpList, List: 1}, {Code: plan.OpList, List: 2}, {Code: plan.OpOr}}
	distinct(t, map[string]Key{
		"all":     rank(),
		"1 or 2":  rank().Among(or, nil),
		"2 or 1":  rank().Among([]plan.Op{or[1], or[0], or[2]}, nil),
		"1 not 2": rank().Among([]plan.Op{or[0], or[1], {Code: plan.OpAndNot}}, nil),
		"1":       rank().Among(nil, []plan.Handle{1}),
		"1 and 2": rank().Among(nil, []plan.Handle{1, 2}),
		"nothing": rank().Among(nil, nil),
		"less":    Key(nil).Rank(7, Ranked{K: 10}, terms[:1]).Among(or, nil),
	})
}

func TestKeyRank(t *testing.T) {
	var k Key
	opt := Ranked{Mode: 1, K: 10, Norm: plan.NewNorm(0.9, 0.4, 100), Scale: 20}
	terms := []plan.Term{{List: 4, Weight: 5}, {List: 2, Weight: 3}}
	base := k.Rank(7, opt, terms)
	for _, same := range [][]plan.Term{
		{{List: 2, Weight: 3}, {List: 4, Weight: 5}},
		{{List: 2, Weight: 1}, {List: 4, Weight: 5}, {List: 2, Weight: 2}},
	} {
		if got := k.Rank(7, opt, same); !bytes.Equal(got, base) {
			t.Errorf("%v: key %x, want %x", same, got, base)
		}
	}
	if terms[0].List != 4 {
		t.Error("the caller's terms are changed")
	}
	keys := map[string]Key{
		"base":          base,
		"another index": k.Rank(8, opt, terms),
		"a weight":      k.Rank(7, opt, []plan.Term{{List: 4, Weight: 5}, {List: 2, Weight: 4}}),
		"another list":  k.Rank(7, opt, []plan.Term{{List: 4, Weight: 5}, {List: 3, Weight: 3}}),
		"fewer":         k.Rank(7, opt, terms[:1]),
		"none":          k.Rank(7, opt, nil),
		"and":           k.And(7, []plan.Handle{2, 4}, false),
	}
	for name, change := range map[string]func(*Ranked){
		"mode":    func(o *Ranked) { o.Mode = 2 },
		"k":       func(o *Ranked) { o.K = 11 },
		"k, high": func(o *Ranked) { o.K = 10 + 1<<16 },
		"base":    func(o *Ranked) { o.Norm.Base++ },
		"slope":   func(o *Ranked) { o.Norm.Slope++ },
		"shift":   func(o *Ranked) { o.Norm.Shift++ },
		"impacts": func(o *Ranked) { o.Norm.Impacts = 8 },
		"scale":   func(o *Ranked) { o.Scale = bm25.Scale(-3) },
		"missing": func(o *Ranked) { o.Missing = true },
		"total":   func(o *Ranked) { o.Total = 1 },
		"all":     func(o *Ranked) { o.Total = 1 << 63 },
	} {
		o := opt
		change(&o)
		keys[name+" changed"] = k.Rank(7, o, terms)
	}
	distinct(t, keys)
}

// Queries of random lists have the same key if their sets are the same, and only then.
func TestKeyRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	seen := make(map[string]string) // key → set
	back := make(map[string]string)
	var k Key
	for range 5000 {
		n := r.IntN(30)
		if r.IntN(4) > 0 {
			n = r.IntN(4)
		}
		handles := make([]plan.Handle, n)
		for i := range handles {
			handles[i] = plan.Handle(r.IntN(12)) << (8 * r.IntN(4))
		}
		k = k.And(1, handles, false)
		slices.Sort(handles)
		set := ""
		for _, h := range slices.Compact(handles) {
			set += string(rune('A'+h%251)) + string(rune('A'+h>>8%251)) + string(rune('A'+h>>16%251)) + string(rune('A'+h>>24))
		}
		if s, ok := seen[string(k)]; ok && s != set {
			t.Fatalf("two sets have key %x", k)
		}
		if b, ok := back[set]; ok && b != string(k) {
			t.Fatalf("a set has keys %x and %x", b, k)
		}
		seen[string(k)], back[set] = set, string(k)
	}
}

func TestKeyAllocations(t *testing.T) {
	k := make(Key, 0, 512)
	handles := []plan.Handle{5, 3, 9}
	ops := []plan.Op{{List: 1}, {List: 2}, {Code: plan.OpOr}}
	terms := []plan.Term{{List: 4, Weight: 5}, {List: 2, Weight: 3}}
	if n := testing.AllocsPerRun(100, func() {
		k = k.And(1, handles, false)
		k = k.Boolean(1, ops, false)
		k = k.Boolean(1, ops[:2], true)
		k = k.Rank(1, Ranked{K: 10}, terms)
	}); n != 0 {
		t.Errorf("building keys allocates %v times", n)
	}
}

func BenchmarkKey(b *testing.B) {
	var k Key
	handles := []plan.Handle{5, 3, 9}
	b.ReportAllocs()
	for b.Loop() {
		k = k.And(1, handles, false)
	}
}
