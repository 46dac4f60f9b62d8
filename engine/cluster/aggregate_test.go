package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine"
	"heddle/engine/api"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/column"
	"heddle/engine/table/read/csv"
	"heddle/engine/table/values"
	"heddle/engine/table/values/arrow"
)

// aggregation draws an aggregation over the columns of drawTable; few are invalid.
var aggregation = rapid.Custom(func(t *rapid.T) (a api.Aggregation) {
	names := []string{"i", "s", "f", "d", "w", "l"}
	groups := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 2, rapid.ID[string]).Draw(t, "groups")
	items := append([]string{}, groups...)
	if rapid.Bool().Draw(t, "aggregates") {
		for k := range rapid.IntRange(1, 3).Draw(t, "terms") {
			form := rapid.SampledFrom([]string{"count(*)", "count(%s)", "count(DISTINCT %s)", "min(%s)", "max(%s)", "sum(%s)", "avg(%s)", "quantile(%s, 0.3)"}).Draw(t, "form")
			items = append(items, strings.ReplaceAll(form, "%s", rapid.SampledFrom(names).Draw(t, "of"))+fmt.Sprint(" AS x", k))
		}
	} else if len(items) == 0 {
		items = []string{"*"}
	} else if rapid.Bool().Draw(t, "columns") {
		groups = nil
	}
	a.Select, a.GroupBy = strings.Join(items, ", "), strings.Join(groups, ", ")
	a.OrderBy = rapid.SampledFrom([]string{"", "", "1", "1 DESC NULLS FIRST", "s, i DESC", "x0 DESC"}).Draw(t, "order")
	a.Where = rapid.SampledFrom([]string{"", "", "i > 3", "s = 'b' OR f < 1", "l = 'x' OR i = 4", "l != 'x'", "FALSE", "i <"}).Draw(t, "where")
	a.Offset = rapid.SampledFrom([]uint64{0, 0, 2}).Draw(t, "offset")
	a.Limit = rapid.SampledFrom([]uint64{0, 1, 5}).Draw(t, "limit")
	return a
})

// drawTable draws the CSV text of a table of integers, strings, floats, two decimals and lists.
func drawTable(t *rapid.T) (text string, rows int) {
	text = "i,s,f,d,w,l\n"
	for _, x := range rapid.SliceOfN(rapid.IntRange(0, 1<<20), 1, 60).Draw(t, "cells") {
		cell := func(values ...string) string {
			v := values[x%len(values)]
			x /= len(values)
			return v
		}
		text += strings.Join([]string{cell("", "1", "4", "9223372036854775807", "-5"), cell("a", "b", "", "é"), cell("0.1", "1e300", "-1e300", "0.3", "inf"),
			cell("1.25", "-0.5", ""), cell("12345678901234567890", "1", "-7"),
			cell(`"[""x"",""y"",""x""]"`, "", `"[""y""]"`, `"[""é""]"`)}, ",") + "\n"
		rows++
	}
	return text, rows
}

// TestRandomAggregate: a table in random shards gives the same values as the whole table, in the
// same bytes, and the same errors.
func TestRandomAggregate(t *testing.T) {
	property(t, func(p *parts) {
		text, rows := drawTable(p.T)
		types := map[string]column.Declared{"i": {Type: column.Int}, "s": {Type: column.String}, "f": {Type: column.Float},
			"d": {Type: column.Decimal, Digits: 9, Scale: 2}, "w": {Type: column.Decimal128, Digits: 38}, "l": {Type: column.String, List: true}}
		src, err := csv.Open(p.Context(), []string{"-"}, csv.Options{Stdin: strings.NewReader(text), Types: types})
		p.must(err)
		defer src.Close()
		file := filepath.Join(p.dir, "x.hdb")
		_, err = tablebuild.Build(p.Context(), src, file, tablebuild.Options{})
		p.must(err)
		whole, err := p.engine.OpenTable(p.Context(), file, engine.TableOptions{})
		p.must(err)
		defer whole.Close()
		c := p.split(file, rows)
		for _, a := range rapid.SliceOfN(aggregation, 1, 4).Draw(p.T, "aggregations") {
			var csv, stream [2]bytes.Buffer
			write := func(side int, b values.Batch) {
				w, s := values.NewCSV(&csv[side]), arrow.New(&stream[side])
				p.must(errors.Join(w.Write(b), w.Close(), s.Write(b), s.Close()))
			}
			b, _, _, err := c.Aggregate(p.Context(), "x", a)
			if err == nil {
				write(0, b)
			}
			var all values.Batch
			wrong := whole.Aggregate(p.Context(), engine.Aggregation{Select: a.Select, GroupBy: a.GroupBy, OrderBy: a.OrderBy, Offset: a.Offset, Limit: a.Limit,
				Rows: engine.Selection{Where: a.Where}}, func(b values.Batch) error {
				if all == nil {
					all = b
				} else {
					all.Append(b)
				}
				return nil
			})
			if wrong == nil {
				write(1, all)
			}
			if (err == nil) != (wrong == nil) || err != nil && !reflect.DeepEqual(plain(err), plain(wrong)) {
				p.Fatalf("%+v: error %v, want %v", a, err, wrong)
			}
			if csv[0].String() != csv[1].String() || !bytes.Equal(stream[0].Bytes(), stream[1].Bytes()) {
				p.Fatalf("%+v:\n%s\nwant\n%s", a, csv[0].String(), csv[1].String())
			}
		}
	})
}

// TestPartialAggregate: without a shard, an aggregation fails, or answers for the rest and says so.
func TestPartialAggregate(t *testing.T) {
	e := newEngine(t)
	m := tableOf(t, e, []string{"1,1", "2,1", "3,2", "4,2"}, []int{0, 1, 3, 4})
	m.set("n1", down)
	c := New(m, m, Options{})
	a := api.Aggregation{Select: "sum(a), count(*)"}
	var missing *MissingError
	if _, _, _, err := c.Aggregate(t.Context(), "t", a); !errors.As(err, &missing) {
		t.Errorf("error %v", err)
	}
	a.AllowPartial = true
	b, _, cover, err := c.Aggregate(t.Context(), "t", a)
	if err != nil || b[0].Format(b[0].Codes[0]) != "5" || b[1].Format(b[1].Codes[0]) != "2" || cover.GetShardsAnswered() != 2 || cover.GetDocsAnswered() != 2 {
		t.Errorf("%+v, coverage %v, %v", b, cover, err)
	}
}

// TestDamagedAggregate: another replica answers in place of a node with damaged states. Without
// one, the error names the shard, and a partial answer leaves it out.
func TestDamagedAggregate(t *testing.T) {
	e := newEngine(t)
	a := api.Aggregation{Select: "sum(a), quantile(a, 0.5)"}
	for name, damage := range map[string]func(*api.ShardAggregateResponse){
		"type":        func(r *api.ShardAggregateResponse) { r.Columns[0].Type = "?" },
		"lengths":     func(r *api.ShardAggregateResponse) { r.Measures[0].Counts = nil },
		"frequencies": func(r *api.ShardAggregateResponse) { r.Measures[1].Frequencies[0] = 99 },
		"columns":     func(r *api.ShardAggregateResponse) { r.Columns = nil },
	} {
		rows := []string{"1,1", "2,1", "3,2", "4,2"}
		m := tableOf(t, e, rows, []int{0, 2, 4})
		m.damage = map[string]func(any){"n0": func(reply any) {
			if r, ok := reply.(*api.ShardAggregateResponse); ok {
				damage(r)
			}
		}}
		var missing *MissingError
		if _, _, _, err := New(m, m, Options{}).Aggregate(t.Context(), "t", a); !errors.As(err, &missing) || !strings.Contains(err.Error(), "shard 0 of t") {
			t.Errorf("%s: error %v", name, err)
		}
		some := a
		some.AllowPartial = true
		b, _, cover, err := New(m, m, Options{}).Aggregate(t.Context(), "t", some)
		if err != nil || b[0].Format(b[0].Codes[0]) != "7" || cover.GetShardsAnswered() != 1 {
			t.Errorf("%s: %+v, coverage %v, %v", name, b, cover, err)
		}
		m.node("n2").AddTable("t", 1, 0, openTable(t, e, rows[:2]))
		m.layout.Shards[0].Replicas = []string{"n0", "n2"}
		c := New(m, m, Options{})
		for range 4 {
			if b, _, _, err := c.Aggregate(t.Context(), "t", a); err != nil || b[0].Format(b[0].Codes[0]) != "10" {
				t.Errorf("%s, two replicas: %+v, %v", name, b, err)
			}
		}
	}
}
