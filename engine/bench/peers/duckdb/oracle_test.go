//go:build cgo

package duckdb

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"heddle/engine"
)

// sources are columns of DuckDB by the number i of the row, and h, a random integer.
var sources = map[string]string{
	"big":   "(h % 19 - 9) * 900000000000000000",
	"small": "CAST(h % 7 AS INTEGER)",
	"many":  "h % 100000 - 50000",
	"skew":  "CASE WHEN h % 100 < 90 THEN 1 ELSE h % 1000 END",
	"u":     "CAST(18446744073709551615 - h % 5 AS UBIGINT)",
	"dec":   "CAST((h % 20001 - 10000) / 100.0 AS DECIMAL(9,2))",
	"wide":  "CAST(h % 1000 AS DECIMAL(38,3)) * 12345678901234567890123",
	"f":     "CASE h % 97 WHEN 0 THEN 'nan'::DOUBLE WHEN 1 THEN 'inf'::DOUBLE ELSE (h % 1000000) / 7.0 END",
	"g":     "(h % 2000 - 1000) / 8.0",
	"real":  "CAST((h % 500) / 4.0 AS FLOAT)",
	"s":     "CASE h % 9 WHEN 0 THEN '' WHEN 1 THEN 'é' WHEN 2 THEN 'a''b' ELSE 'k' || (h % 40) END",
	"b":     "h % 3 = 0",
	"ts":    "TIMESTAMP '2001-02-03 04:05:06' + INTERVAL (h % 100000) SECOND",
}

var columnNames = []string{"big", "small", "many", "skew", "u", "dec", "wide", "f", "g", "real", "s", "b", "ts"}

// tableOf is a query of DuckDB that makes rows with missing values. percent is how many
// values are missing in every second column.
func tableOf(rows, percent, seed int) string {
	var list []string
	for k, name := range columnNames {
		text := sources[name]
		if k%2 == 1 {
			text = fmt.Sprintf("CASE WHEN hash(i * 31 + %d) %% 100 < %d THEN NULL ELSE %s END", seed+k, percent, text)
		}
		text = strings.ReplaceAll(text, "h %", fmt.Sprintf("CAST(hash(i * 17 + %d) >> 2 AS BIGINT) %%", seed+100*k))
		list = append(list, text+" AS "+name)
	}
	return fmt.Sprintf("SELECT %s FROM range(%d) AS r(i)", strings.Join(list, ", "), rows)
}

var predicates = []string{"", "", "small < 3", "many BETWEEN -100 AND 100", "s = 'k7'", "dec >= 99.5 OR b", "small IS NULL", "FALSE",
	"g < 0 AND NOT b", "f > 100000", "skew = 1", "many = 77"}

// aggregates draws an aggregate.
func aggregate(t *rapid.T) string {
	name := rapid.SampledFrom(columnNames).Draw(t, "of")
	forms := []string{"count(*)", "count(%s)", "count(DISTINCT %s)", "min(%s)", "max(%s)"}
	if name != "s" && name != "ts" && name != "b" {
		forms = append(forms, "sum(%s)", "avg(%s)", "sum(%s)")
	}
	if name == "b" {
		forms = append(forms, "sum(%s)")
	} else {
		forms = append(forms, "quantile(%s, 0.5)", "quantile(%s, 0.9)", "quantile(%s, 0)", "quantile(%s, 1)", "quantile(%s, 0.123)")
	}
	form := rapid.SampledFrom(forms).Draw(t, "form")
	if strings.Contains(form, "%s") {
		form = fmt.Sprintf(form, name)
	}
	return form
}

// question is a statement for both programs.
type question struct {
	heddle engine.Aggregation
	duck   string
}

// keys draws an order by some terms, which the terms of ties complete.
func keys(t *rapid.T, terms, ties []string) string {
	var list []string
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(terms)-1), 0, min(2, len(terms)), rapid.ID[int]).Draw(t, "keys") {
		list = append(list, terms[i]+rapid.SampledFrom([]string{"", " DESC", " NULLS FIRST", " DESC NULLS FIRST"}).Draw(t, "direction"))
	}
	return strings.Join(append(list, ties...), ", ")
}

// ask draws a question.
func ask(t *rapid.T) (q question) {
	a := &q.heddle
	a.Rows.Where = rapid.SampledFrom(predicates).Draw(t, "where")
	a.Offset = rapid.SampledFrom([]uint64{0, 0, 3}).Draw(t, "offset")
	a.Limit = rapid.SampledFrom([]uint64{0, 1, 10, 100}).Draw(t, "limit")
	var items []string
	var order string
	if rapid.IntRange(0, 3).Draw(t, "rows") == 0 {
		names := rapid.SliceOfNDistinct(rapid.SampledFrom(columnNames), 1, 4, rapid.ID[string]).Draw(t, "columns")
		items = names
		a.OrderBy = keys(t, columnNames, nil)
		order = strings.Trim(a.OrderBy+", rowid", ", ")
	} else {
		groups := rapid.SliceOfNDistinct(rapid.SampledFrom(columnNames), 0, 2, rapid.ID[string]).Draw(t, "groups")
		items = append(items, groups...)
		var terms []string
		for range rapid.IntRange(1, 4).Draw(t, "terms") {
			terms = append(terms, aggregate(t))
		}
		for i, term := range terms {
			items = append(items, fmt.Sprintf("%s AS x%d", term, i))
		}
		stable := groups
		for i, term := range terms { // sums of floats are not the same in DuckDB
			if !strings.Contains(term, "avg") && !strings.Contains(term, "sum(f)") && !strings.Contains(term, "sum(g)") && !strings.Contains(term, "sum(real)") {
				stable = append(stable, fmt.Sprint("x", i))
			}
		}
		a.GroupBy = strings.Join(groups, ", ")
		if len(groups) > 0 {
			a.OrderBy = keys(t, stable, groups)
			order = a.OrderBy
		}
	}
	a.Select = strings.Join(items, ", ")
	q.duck = "SELECT " + strings.ReplaceAll(a.Select, "quantile(", "quantile_disc(") + " FROM t"
	for word, text := range map[string]string{" WHERE ": a.Rows.Where} {
		if text != "" {
			q.duck += word + text
		}
	}
	if a.GroupBy != "" {
		q.duck += " GROUP BY " + a.GroupBy
	}
	if order != "" {
		q.duck += " ORDER BY " + order
	}
	if a.Limit > 0 {
		q.duck += fmt.Sprint(" LIMIT ", a.Limit)
	}
	if a.Offset > 0 {
		q.duck += fmt.Sprint(" OFFSET ", a.Offset)
	}
	return q
}

// near reports whether DuckDB's answer is the exact one, but for the rounding of sums of floats
// and of means.
func near(got, want any) bool {
	switch got := got.(type) {
	case nil:
		return want == nil
	case time.Time:
		w, ok := want.(time.Time)
		return ok && got.Equal(w)
	case *big.Rat:
		w, ok := want.(*big.Rat)
		return ok && got.Cmp(w) == 0
	case float64:
		w, ok := want.(float64)
		return ok && (got == w || got != got && w != w || math.Abs(got-w) <= 1e-6+1e-12*math.Abs(w))
	}
	return got == want
}

// TestAggregates compares answers to random statements on tables of several sizes.
func TestAggregates(t *testing.T) {
	for _, size := range []struct{ rows, missing int }{{0, 0}, {1, 50}, {300, 30}, {5000, 5}, {60_000, 90}} {
		p := newPair(t, 2, *backend, tableOf(size.rows, size.missing, size.rows))
		t.Run(fmt.Sprint(size.rows), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				q := ask(t)
				want, err := p.duck(q.duck)
				if err != nil {
					t.Fatalf("%s: %v", q.duck, err)
				}
				got, err := p.heddle(q.heddle)
				if err != nil {
					t.Fatalf("%s: %v", q.duck, err)
				}
				if len(got) != len(want) {
					t.Fatalf("%s: %d rows, want %d", q.duck, len(got), len(want))
				}
				for i := range got {
					for k := range got[i] {
						if !near(got[i][k], want[i][k]) {
							t.Fatalf("%s:\nrow %d: %s\nDuckDB: %s", q.duck, i, write(got[i]), write(want[i]))
						}
					}
				}
			})
		})
	}
}
