package reference

import (
	"math"
	"math/big"
	"slices"

	"heddle/engine/plan"
)

// Group is a group of rows, with its quantities.
type Group struct {
	Codes    []uint64 // by Grouping
	Missing  []bool   // by Grouping: rows without a value, whose code is 0
	Rows     uint64
	Measures []Measured
}

// Measured is a measure of one group. The field of its kind is set.
type Measured struct {
	Count            uint64 // rows with a value
	Sum              *big.Int
	Floats           float64 // the exact sum, rounded once
	Least, Greatest  uint64
	Codes            map[uint64]uint64 // rows of each code
	finite           *big.Rat
	nan, above, less bool // some value is NaN, Inf, -Inf
}

// Aggregate returns the groups of the rows of a bitset, in the order of their codes; rows
// without a value come last.
func (t *Table) Aggregate(a *plan.Aggregation, rows []uint64) []*Group {
	var groups []*Group
	if len(a.Groupings) == 0 {
		groups = append(groups, t.group(a, nil, nil))
	}
	for row := range t.Rows {
		if rows[row/64]>>(row%64)&1 == 0 {
			continue
		}
		var codes []uint64
		var missing []bool
		for _, i := range a.Groupings {
			code, ok := t.input(&a.Inputs[i], row)
			codes, missing = append(codes, code), append(missing, !ok)
		}
		at := slices.IndexFunc(groups, func(g *Group) bool { return slices.Equal(g.Codes, codes) && slices.Equal(g.Missing, missing) })
		if at < 0 {
			at = len(groups)
			groups = append(groups, t.group(a, codes, missing))
		}
		groups[at].Rows++
		for i := range a.Measures {
			m := &a.Measures[i]
			if code, ok := t.input(&a.Inputs[m.Input], row); ok {
				groups[at].Measures[i].add(m, code)
			}
		}
	}
	for _, g := range groups {
		for i := range g.Measures {
			g.Measures[i].Floats = g.Measures[i].round()
		}
	}
	slices.SortFunc(groups, func(g, h *Group) int {
		for i := range g.Codes {
			if g.Missing[i] != h.Missing[i] {
				if g.Missing[i] {
					return 1
				}
				return -1
			}
			if g.Codes[i] != h.Codes[i] {
				if g.Codes[i] > h.Codes[i] {
					return 1
				}
				return -1
			}
		}
		return 0
	})
	return groups
}

func (t *Table) group(a *plan.Aggregation, codes []uint64, missing []bool) *Group {
	g := &Group{Codes: codes, Missing: missing, Measures: make([]Measured, len(a.Measures))}
	for i := range g.Measures {
		g.Measures[i] = Measured{Sum: new(big.Int), Least: math.MaxUint64, Codes: map[uint64]uint64{}, finite: new(big.Rat)}
	}
	return g
}

// input is the code of a row; ok is false for a row without a value.
func (t *Table) input(in *plan.Input, row uint32) (code uint64, ok bool) {
	if in.Missing && t.Bits[in.Vector][row/64]>>(row%64)&1 != 0 {
		return 0, false
	}
	if code = t.Codes[in.Column][row]; in.Bounds == nil {
		return code, true
	}
	bin := uint64(0)
	for _, b := range in.Bounds {
		if b <= code {
			bin++
		}
	}
	return bin, true
}

func (x *Measured) add(m *plan.Measure, code uint64) {
	x.Count++
	x.Least, x.Greatest = min(x.Least, code), max(x.Greatest, code)
	switch m.Kind {
	case plan.MeasureCodes:
		x.Codes[code]++
	case plan.MeasureSum:
		w := plan.Weight{Low: code}
		if m.Weights != nil {
			w = m.Weights[code]
		}
		high := new(big.Int).Lsh(new(big.Int).SetUint64(w.High), 64)
		x.Sum.Add(x.Sum, high.Add(high, new(big.Int).SetUint64(w.Low)))
	case plan.MeasureFloats, plan.MeasureFloats32:
		switch v := float(m, code); {
		case math.IsNaN(v):
			x.nan = true
		case math.IsInf(v, 1):
			x.above = true
		case math.IsInf(v, -1):
			x.less = true
		default:
			x.finite.Add(x.finite, new(big.Rat).SetFloat64(v))
		}
	}
}

// float is the number of a code.
func float(m *plan.Measure, code uint64) float64 {
	key, top := m.Base+max(m.Unit, 1)*code, uint64(1)<<63
	if m.Keys != nil {
		key = m.Keys[code]
	}
	if m.Scale > 0 {
		v, _ := new(big.Rat).SetFrac(big.NewInt(int64(key-top)), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(m.Scale)), nil)).Float64()
		return v
	}
	if m.Kind == plan.MeasureFloats32 {
		key, top = key&math.MaxUint32, 1<<31
	}
	if key&top != 0 {
		key &^= top
	} else {
		key = ^key
	}
	if m.Kind == plan.MeasureFloats32 {
		return float64(math.Float32frombits(uint32(key)))
	}
	return math.Float64frombits(key)
}

func (x *Measured) round() float64 {
	switch {
	case x.nan || x.above && x.less:
		return math.NaN()
	case x.above:
		return math.Inf(1)
	case x.less:
		return math.Inf(-1)
	}
	v, _ := x.finite.Float64()
	return v
}
