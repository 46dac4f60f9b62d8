//go:build core

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"heddle/engine/file/input"
	"heddle/engine/table/read"
	"heddle/engine/table/values"
)

// This file takes the place of full.go in a build with the tag core, which has indexes, queries, collections and tables
// in one process.

var largeCommands = []constructor{absent("serve", "server"), absent("cluster", "cluster"), absent("load", "load generator"), absent("bench", "benchmarks")}

// absent is a command that says what the core lacks.
func absent(name, what string) constructor {
	return constructor{name, func(*App) *cobra.Command {
		return &cobra.Command{
			Use: name, Short: "Not in this build", DisableFlagParsing: true,
			RunE: func(*cobra.Command, []string) error { return lacking(what) },
		}
	}}
}

// lacking is the error of what the core leaves out.
func lacking(what string) error {
	return usageError{fmt.Errorf("this build has no %s: it is the core; build heddle without the tag core", what)}
}

func unreachable(error) bool { return false }

func openParquet(context.Context, []string, []string, input.Invalid, func(string)) (read.Source, error) {
	return nil, lacking("Parquet")
}

var valueFormats = map[string]func(io.Writer) values.Writer{"csv": values.NewCSV, "json": values.NewLines}
