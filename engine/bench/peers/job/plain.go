//go:build !cgo

package main

import (
	"context"
	"errors"
)

func runDuckDB(context.Context, string, string) error {
	return errors.New("DuckDB needs a build with a C compiler")
}
