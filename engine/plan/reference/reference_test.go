package reference

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/codec"
	"heddle/codec/wah"
	"heddle/engine/plan"
)

func TestIntersect(t *testing.T) {
	const last = math.MaxUint32 - 1
	for _, c := range []struct{ a, b, want []uint32 }{
		{nil, nil, nil},
		{[]uint32{1}, nil, nil},
		{nil, []uint32{1}, nil},
		{[]uint32{1, 3, 5}, []uint32{0, 1, 2, 5, 9}, []uint32{1, 5}},
		{[]uint32{0, last}, []uint32{last}, []uint32{last}},
		{[]uint32{2, 4}, []uint32{1, 3, 5}, nil},
	} {
		if got := Intersect(c.a, c.b); !slices.Equal(got, c.want) {
			t.Errorf("Intersect(%v, %v) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func list(h plan.Handle) plan.Op    { return plan.Op{List: h} }
func code(code plan.OpCode) plan.Op { return plan.Op{Code: code} }

// TestMatch runs conjunctions and expressions in one batch.
func TestMatch(t *testing.T) {
	docs := [][]uint32{{1, 2, 3}, {2, 3, 4, 5}, {3, 9}, {}}
	src := &plan.Source{Docs: 10}
	for _, l := range docs {
		if _, err := src.Append(codec.Raw, l, codec.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	var b plan.MatchBatch
	var want [][]uint32
	add := func(docs []uint32, ops ...plan.Op) {
		b.AddOps(ops)
		want = append(want, docs)
	}
	b.Add(src)
	b.Add(src, 0, 1)
	b.Add(src, 2, 1, 0)
	b.Add(src, 3, 1)
	want = append(want, nil, []uint32{2, 3}, []uint32{3}, nil)
	add(nil)
	add([]uint32{2, 3, 4, 5}, list(1))
	add([]uint32{2, 3}, list(0), list(1), code(plan.OpAnd))
	add([]uint32{1, 2, 3, 4, 5}, list(0), list(1), code(plan.OpOr))
	add([]uint32{1}, list(0), list(1), code(plan.OpAndNot))
	add([]uint32{4, 5}, list(0), list(1), code(plan.OpNotAnd))
	add([]uint32{1, 2, 9}, list(0), list(2), code(plan.OpOr), list(2), list(1), code(plan.OpAnd), code(plan.OpAndNot))
	b.Add(src, 2)
	want = append(want, []uint32{3, 9})
	if err := b.Validate(src); err != nil {
		t.Fatal(err)
	}
	for i, got := range Match(docs, &b) {
		if !slices.Equal(got, want[i]) {
			t.Errorf("query %d: %d, want %d", i, got, want[i])
		}
	}
}

// TestTree compares trees with the simplified batch of package plan.
func TestTree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	src := &plan.Source{Docs: 64}
	var docs [][]uint32
	for i := range 6 {
		var l []uint32
		for d := range src.Docs {
			if i > 0 && r.IntN(i+1) == 0 {
				l = append(l, d)
			}
		}
		if _, err := src.Append(codec.Raw, l, codec.Options{}); err != nil {
			t.Fatal(err)
		}
		docs = append(docs, l)
	}
	var tree func(depth int) plan.Expr
	tree = func(depth int) plan.Expr {
		if depth == 0 || r.IntN(4) == 0 {
			return plan.Expr{List: r.Uint32N(6)}
		}
		e := plan.Expr{Op: plan.OpAnd + plan.OpCode(r.IntN(3)), Args: make([]plan.Expr, 1+r.IntN(3))}
		for i := range e.Args {
			e.Args[i] = tree(depth - 1)
		}
		return e
	}
	for range 2000 {
		e := tree(3)
		var b plan.MatchBatch
		if err := b.AddExpr(src, e); err != nil {
			t.Fatal(err)
		}
		if got, want := Match(docs, &b)[0], Tree(docs, e); !slices.Equal(got, want) {
			t.Fatalf("%+v: %d, want %d", e, got, want)
		}
	}
}

// TestRank has figures that were worked out by hand.
func TestRank(t *testing.T) {
	src := &plan.Source{Docs: 6, Impacts: 8}
	l := &Lists{Docs: [][]uint32{{1, 2, 4}, {2, 5}}, Freqs: [][]uint32{{7, 9, 7}, {1, 3}}}
	for h, docs := range l.Docs {
		if _, err := src.Append(codec.Raw, docs, codec.Options{}); err != nil {
			t.Fatal(err)
		}
		if err := src.AppendFreqs(plan.Handle(h), l.Freqs[h], codec.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	r := &plan.RankBatch{K: 2, Norm: plan.Norm{Impacts: 8}}
	r.Add(src, plan.Term{List: 0, Weight: 1 << 8})
	r.Add(src)
	r.Add(src, plan.Term{List: 0, Weight: 1 << 8}, plan.Term{List: 1, Weight: 10 << 8})
	decoded, err := Decode(src)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*Lists{l, decoded} {
		r.Mode = plan.Or
		want := [][]Hit{{{2, 9, 1}, {1, 7, 1}, {4, 7, 1}}, nil, {{5, 30, 1}, {2, 19, 2}, {1, 7, 1}, {4, 7, 1}}}
		if got := l.Rank(r); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("OR: %v, want %v", got, want)
		}
		r.Mode = plan.And
		want[2] = []Hit{{2, 19, 2}}
		if got := l.Rank(r); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("AND: %v, want %v", got, want)
		}
	}
}

// TestRankFrequencies scores a document by frequency and length: 100·3/4.5 + 50/2.5.
func TestRankFrequencies(t *testing.T) {
	src := &plan.Source{Docs: 5, Lengths: []uint32{3, 1, 4, 1, 5}}
	l := &Lists{Docs: [][]uint32{{0, 2, 3}, {2, 4}}, Freqs: [][]uint32{{1, 3, 1}, {1, 9}}, Lengths: src.Lengths}
	for _, docs := range l.Docs {
		if _, err := src.Append(codec.ParaPFor, docs, codec.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	r := &plan.RankBatch{K: 4, Norm: plan.NewNorm(1, 0.5, 2)}
	r.Add(src, plan.Term{List: 0, Weight: 100}, plan.Term{List: 1, Weight: 50})
	want := []Hit{{2, 87, 2}, {3, 58, 1}, {0, 45, 1}, {4, 42, 1}}
	if got := l.Rank(r)[0]; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestDecodeCorrupt(t *testing.T) {
	src := &plan.Source{Docs: 10, Words: []uint32{5, 3}, Lists: []plan.List{{Words: 2, Len: 2, Codec: codec.Raw}}}
	if _, err := Decode(src); err == nil {
		t.Error("a list that descends has been decoded")
	}
}

// TestSelect has four rows and every step.
func TestSelect(t *testing.T) {
	for _, word := range []int{32, 64} {
		stored := &plan.Table{Rows: 4}
		plain := &Table{Rows: 4, Bits: [][]uint64{{0b0011}, {0b0110}}, Codes: [][]uint64{{5, 1 << 40, 7, 5}, {1, 2, 3, 4}}}
		for _, set := range plain.Bits {
			if word == 64 {
				stored.AppendVector64(compress[uint64](set[0], 4))
			} else {
				stored.AppendVector32(compress[uint32](set[0], 4))
			}
		}
		for _, codes := range plain.Codes {
			if _, err := stored.AppendCodes(codes); err != nil {
				t.Fatal(err)
			}
		}
		decoded, err := DecodeTable(stored)
		if err != nil {
			t.Fatal(err)
		}
		var s plan.SelectBatch
		var want []uint64
		end := func(rows uint64) {
			s.End()
			want = append(want, rows)
		}
		end(0)
		s.Any()
		end(0)
		s.Any(0, 1)
		end(0b0111)
		s.Any(0)
		s.Do(plan.StepNot)
		end(0b1100)
		for step, rows := range map[plan.StepCode]uint64{plan.StepAnd: 0b0010, plan.StepOr: 0b0111, plan.StepAndNot: 0b0001} {
			s.Any(0)
			s.Any(1)
			s.Do(step)
			end(rows)
		}
		s.Any(0, 1)
		s.Check(0, plan.CodeRange{Lo: 5, Hi: 6}, plan.CodeRange{Lo: 1 << 40, Hi: 1 << 40})
		end(0b0011)
		s.Any(0, 1)
		s.Check(1, plan.CodeRange{Lo: 3, Hi: 9})
		end(0b0100)
		if err := s.Validate(stored); err != nil {
			t.Fatal(err)
		}
		for _, table := range []*Table{plain, decoded} {
			for i, got := range table.Select(&s) {
				if !slices.Equal(got, []uint64{want[i]}) {
					t.Errorf("wah%d, selection %d: %b, want %b", word, i, got, want[i])
				}
			}
		}
	}
}

func compress[W wah.Word](set uint64, rows uint64) []W {
	var b wah.Builder[W]
	for row := range rows {
		if set>>row&1 != 0 {
			b.Add(row)
		}
	}
	return b.AppendTo(nil, rows)
}
