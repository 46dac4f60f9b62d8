// Package duckdb compares aggregates of heddle with DuckDB: tests compare the answers, and
// benchmarks the times.
//
//	go test -C engine/bench/peers ./duckdb -run Aggregates -rapid.checks=1000
//	go test -C engine/bench/peers ./duckdb -run none -bench Groups -rows 20000000 -benchtime 5x
//
// DuckDB needs cgo. Without it the package has no tests.
package duckdb
