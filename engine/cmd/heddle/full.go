//go:build !core

package main

import (
	"context"
	"io"

	"heddle/engine/cluster/transport"
	"heddle/engine/file/input"
	"heddle/engine/table/read"
	readparquet "heddle/engine/table/read/parquet"
	"heddle/engine/table/values"
	"heddle/engine/table/values/arrow"
	"heddle/engine/table/values/parquet"
)

// largeCommands and the other declarations of this file are the parts of the command that a build with the tag core
// leaves out: core.go has its own.
var largeCommands = []constructor{{"serve", newServe}, {"cluster", newCluster}, {"load", newLoad}, {"bench", newBench}}

// unreachable reports whether an error says that no server answers.
func unreachable(err error) bool { return transport.Unreachable(err) }

func openParquet(ctx context.Context, paths, columns []string, invalid input.Invalid, warn func(string)) (read.Source, error) {
	return readparquet.Open(ctx, paths, readparquet.Options{Columns: columns, Invalid: invalid, Warn: warn})
}

// valueFormats are the values of --format.
var valueFormats = map[string]func(io.Writer) values.Writer{"csv": values.NewCSV, "json": values.NewLines, "arrow": arrow.New, "parquet": parquet.New}
