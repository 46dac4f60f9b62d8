package plantest

import (
	"slices"
	"strings"
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/reference"
)

// fourRows returns a table of four rows, and selections with their answers.
func fourRows(t *testing.T) (*Table, *plan.SelectBatch, [][]uint64) {
	tab := NewTable(4, 32)
	tab.AddVector([]uint64{0b0011})
	tab.AddVector([]uint64{0b0110})
	tab.AddCodes(t, []uint64{5, 1 << 40, 7, 5})
	s := new(plan.SelectBatch)
	var want [][]uint64
	end := func(rows uint64) {
		s.End()
		want = append(want, []uint64{rows})
	}
	end(0)
	s.Any()
	end(0)
	s.Any(0, 1)
	end(0b0111)
	s.Any(0)
	s.Do(plan.StepNot)
	end(0b1100)
	for code, rows := range map[plan.StepCode]uint64{plan.StepAnd: 0b0010, plan.StepOr: 0b0111, plan.StepAndNot: 0b0001} {
		s.Any(0)
		s.Any(1)
		s.Do(code)
		end(rows)
	}
	s.Any(0, 1)
	s.Check(0, plan.CodeRange{Lo: 5, Hi: 6}, plan.CodeRange{Lo: 1 << 40, Hi: 1 << 40})
	end(0b0011)
	if err := s.Validate(&tab.Table); err != nil {
		t.Fatal(err)
	}
	return tab, s, want
}

func TestScan(t *testing.T) {
	tab, s, want := fourRows(t)
	if got := tab.Scan(s); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("the rows are %b, want %b", got, want)
	}
}

// TestTableWords decodes the words of AddVector and AddCodes, for every kind.
func TestTableWords(t *testing.T) {
	for _, word := range []int{32, 64} {
		tab := EveryVector(t, 5003, word)
		for _, kind := range CodeKinds {
			tab.AddColumn(t, kind, RNG(t))
		}
		if err := tab.Validate(); err != nil {
			t.Fatal(err)
		}
		plain, err := reference.DecodeTable(&tab.Table)
		if err != nil {
			t.Fatal(err)
		}
		for v, set := range tab.Bits {
			if !slices.Equal(plain.Bits[v], set) {
				t.Errorf("wah%d: the vector of kind %s differs after decompression", word, VectorKinds()[v].Name)
			}
		}
		for c, codes := range tab.Codes {
			if !slices.Equal(plain.Codes[c], codes) {
				t.Errorf("wah%d: the codes of column %d differ after unpacking", word, c)
			}
		}
	}
}

// TestCompareSeesWrongRows checks that Compare reports every kind of mistake.
func TestCompareSeesWrongRows(t *testing.T) {
	tab, s, want := fourRows(t)
	right := func() *plan.Rows {
		out := &plan.Rows{Stride: 1, Bits: slices.Concat(want...), Counts: []uint32{0, 0, 3, 2, 1, 3, 1, 2}}
		for i, w := range out.Bits { // the steps of two sets are in any order
			out.Counts[i] = uint32(w&1 + w>>1&1 + w>>2&1 + w>>3&1)
		}
		out.Stats = plan.Stats{Queries: 8, Matches: 12, Wall: 1}
		return out
	}
	if err := tab.Compare(s, want, right()); err != nil {
		t.Fatalf("the right answer: %v", err)
	}
	for complaint, spoil := range map[string]func(*plan.Rows){
		"7 counts for 8":        func(r *plan.Rows) { r.Counts = r.Counts[1:] },
		"5 rows of 4":           func(r *plan.Rows) { r.Counts[0] = 5 },
		"in strides of 2":       func(r *plan.Rows) { r.Stride = 2 },
		"7 words of bits":       func(r *plan.Rows) { r.Bits = r.Bits[1:] },
		"with 3 ones":           func(r *plan.Rows) { r.Counts[2] = 2 },
		"after the last of 4":   func(r *plan.Rows) { r.Bits[0], r.Counts[0] = 1<<4, 1 },
		"row 1 of 4 is 0, want": func(r *plan.Rows) { r.Bits[2], r.Counts[2] = 5, 2 },
		"stats":                 func(r *plan.Rows) { r.Stats.Matches++ },
	} {
		out := right()
		spoil(out)
		if err := tab.Compare(s, want, out); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%v, want a complaint about %q", err, complaint)
		}
	}
	s.Output = plan.OutputCounts
	if err := tab.Compare(s, want, right()); err == nil {
		t.Error("bits where only counts were asked for went through")
	}
	out := right()
	out.Bits = nil
	if err := tab.Compare(s, want, out); err != nil {
		t.Errorf("right counts: %v", err)
	}
	if out.Counts[2], out.Counts[3] = 2, 3; tab.Compare(s, want, out) == nil {
		t.Error("wrong counts went through")
	}
}
