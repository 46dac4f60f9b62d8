//go:build cgo

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	_ "github.com/duckdb/duckdb-go/v2"
)

func runDuckDB(ctx context.Context, path, statement string) (err error) {
	db, err := sql.Open("duckdb", path+"?threads=2")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var value any
	if err := db.QueryRowContext(ctx, statement).Scan(&value); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	fmt.Println(value)
	return nil
}
