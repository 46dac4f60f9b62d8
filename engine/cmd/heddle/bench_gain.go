//go:build !core

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/engine/bench/chart"
	"heddle/engine/bench/measure"
	"heddle/engine/file/input"
)

type benchGainOptions struct{ files []string }

func newBenchGain(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "gain FILE...",
		Short: "Draw the speed over other libraries from rows of earlier runs",
		Long: `Gain reads rows that bench lists --peers, bench bitmap and engine/bench/peers wrote with
--json, and draws the speed of heddle over the speed of each library as SVG on standard
output. A later file replaces the figures of an earlier one.`,
		Example: "  heddle bench gain lists.jsonl bitmap.jsonl",
	}, &benchGainOptions{})
}

func (o *benchGainOptions) AddFlags(*pflag.FlagSet) {}

func (o *benchGainOptions) Validate(args []string) error {
	if o.files = args; len(args) == 0 {
		return errors.New("one file of rows or more is missing")
	}
	return nil
}

func (o *benchGainOptions) Run(ctx context.Context, a *App) error {
	var runs [][]measure.Row
	for _, path := range o.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows, err := readRows(ctx, path)
		if err != nil {
			return err
		}
		runs = append(runs, rows)
	}
	return chart.Gain(a.Stdout, runs...)
}

// readRows reads a file of rows.
func readRows(ctx context.Context, path string) ([]measure.Row, error) {
	f, err := input.File(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := measure.ReadRows(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rows, nil
}
