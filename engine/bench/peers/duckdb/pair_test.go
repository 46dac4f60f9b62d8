//go:build cgo

package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"heddle/engine"
	tablebuild "heddle/engine/table/build"
	"heddle/engine/table/column"
	"heddle/engine/table/read/parquet"
	"heddle/engine/table/values"
)

// pair is the same table in DuckDB, under the name t, and in heddle.
type pair struct {
	db     *sql.DB
	engine *engine.Engine
	table  *engine.Table
}

// newPair makes a table of the rows of a query of DuckDB. Both programs use so many
// threads; a backend with devices chooses the threads of heddle.
func newPair(tb testing.TB, threads int, backend, query string) *pair {
	tb.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	path := filepath.Join(tb.TempDir(), "t.parquet")
	for _, text := range []string{fmt.Sprint("SET threads = ", threads), "CREATE TABLE t AS " + query, "COPY t TO '" + path + "' (FORMAT parquet)"} {
		if _, err := db.Exec(text); err != nil {
			tb.Fatalf("%s: %v", text, err)
		}
	}
	ctx := context.Background()
	src, err := parquet.Open(ctx, []string{path}, parquet.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	defer src.Close()
	if _, err := tablebuild.Build(ctx, src, path+".hdb", tablebuild.Options{}); err != nil {
		tb.Fatal(err)
	}
	opt := engine.Options{Backend: backend}
	if backend == "host" {
		opt.Threads = threads
	}
	e, err := engine.New(ctx, opt)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { e.Close() })
	t, err := e.OpenTable(ctx, path+".hdb", engine.TableOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	return &pair{db, e, t}
}

// duck answers a query with DuckDB. Values are nil, bool, string, float64, *big.Rat and
// time.Time.
func (p *pair) duck(query string) (all [][]any, err error) {
	rows, err := p.db.Query(query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		line, to := make([]any, len(names)), make([]any, len(names))
		for i := range line {
			to[i] = &line[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		for i, v := range line {
			line[i] = exact(v)
		}
		all = append(all, line)
	}
	return all, rows.Err()
}

// exact is a number of DuckDB as a *big.Rat, a float32 as a float64.
func exact(v any) any {
	switch v := v.(type) {
	case int64:
		return new(big.Rat).SetInt64(v)
	case int32:
		return new(big.Rat).SetInt64(int64(v))
	case uint64:
		return new(big.Rat).SetUint64(v)
	case *big.Int:
		return new(big.Rat).SetInt(v)
	case duckdb.Decimal:
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(v.Scale)), nil)
		return new(big.Rat).SetFrac(v.Value, unit)
	case float32:
		return float64(v)
	}
	return v
}

// heddle answers an aggregation with the values of duck.
func (p *pair) heddle(a engine.Aggregation) (all [][]any, err error) {
	err = p.table.Aggregate(context.Background(), a, func(b values.Batch) error {
		for i := range b.Len() {
			var line []any
			for k := range b {
				line = append(line, value(&b[k], i))
			}
			all = append(all, line)
		}
		return nil
	})
	return all, err
}

func value(c *values.Column, i int) any {
	if c.Null(i) {
		return nil
	}
	text, key := c.Format(c.Codes[i]), c.Key(c.Codes[i])
	switch c.Type {
	case column.Bool:
		return text == "true"
	case column.String:
		return text
	case column.Float, column.Float32:
		return c.Float(c.Codes[i])
	case column.Timestamp:
		return time.UnixMicro(column.KeyInt(key)).UTC()
	}
	v, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return v
}

// write writes a line of values.
func write(line []any) string {
	var parts []string
	for _, v := range line {
		if r, ok := v.(*big.Rat); ok {
			v = r.RatString()
		}
		parts = append(parts, fmt.Sprint(v))
	}
	return strings.Join(parts, " | ")
}
