// Package valuestest has results for tests of writers: columns of all types.
package valuestest

import (
	"math"
	"math/big"

	"heddle/engine/table/column"
	"heddle/engine/table/values"
)

// Batch is three rows of each type. The second row has no values.
func Batch() values.Batch {
	wide := func(text string) string {
		v, _ := new(big.Int).SetString(text, 10)
		key, err := column.WideKey(v)
		if err != nil {
			panic(err)
		}
		return string(key[:])
	}
	b := values.Batch{
		{Column: column.Column{Name: "z", Type: column.Int, Base: column.IntKey(math.MinInt64)}, Codes: []uint64{0, 0, math.MaxUint64}},
		{Column: column.Column{Name: "u", Type: column.Uint, Base: 1}, Codes: []uint64{0, 0, math.MaxUint64 - 1}},
		{Column: column.Column{Name: "f", Type: column.Float}, Codes: []uint64{column.FloatKey(-0.1), 0, column.FloatKey(math.NaN())}},
		{Column: column.Column{Name: "g", Type: column.Float32}, Codes: []uint64{column.Float32Key(1.5), 0, column.Float32Key(float32(math.Inf(-1)))}},
		{Column: column.Column{Name: "b", Type: column.Bool}, Codes: []uint64{1, 0, 0}},
		{Column: column.Column{Name: "t", Type: column.Timestamp}, Codes: []uint64{column.IntKey(981173106000001), 0, column.IntKey(column.Infinity)}},
		{Column: column.Column{Name: "n", Type: column.TimestampNS}, Codes: []uint64{column.IntKey(981173106000000001), 0, column.IntKey(-1)}},
		{Column: column.Column{Name: "d", Type: column.Decimal, Scale: 2}, Codes: []uint64{column.IntKey(-150), 0, column.IntKey(math.MaxInt64)}},
		{Column: column.Column{Name: "w", Type: column.Decimal128, Scale: 3, Dictionary: []string{wide("99999999999999999999999999999999999999"), wide("-1")}}, Codes: []uint64{0, 0, 1}},
		{Column: column.Column{Name: "s", Type: column.String, Dictionary: []string{"", `a"b, é`}}, Codes: []uint64{1, 0, 0}},
		{Column: column.Column{Name: "x", Type: column.String, Dictionary: []string{"\xff"}}, Codes: []uint64{0, 0, 0}},
	}
	for k := range b {
		b[k].SetNull(1)
	}
	return b
}

// Texts are the values of Batch, column after column.
var Texts = [][]string{
	{"-9223372036854775808", "9223372036854775807"}, {"1", "18446744073709551615"}, {"-0.1", "nan"}, {"1.5", "-inf"}, {"true", "false"},
	{"2001-02-03T04:05:06.000001Z", "infinity"}, {"2001-02-03T04:05:06.000000001Z", "1969-12-31T23:59:59.999999999Z"},
	{"-1.50", "92233720368547758.07"}, {"99999999999999999999999999999999999.999", "-0.001"}, {`a"b, é`, ""}, {"\xff", "\xff"},
}
