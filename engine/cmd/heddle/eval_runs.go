package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/file/input"
	"heddle/engine/index/trec"
)

// read reads the files of the command: runs, and one file of judgements unless the runs are
// fused. judgements is the path of the judgements.
func (o *evalOptions) read(ctx context.Context, a *App) (paths []string, runs []trec.Run, judgements string, qrels trec.Qrels, err error) {
	in := input.Opener{Ctx: ctx, Stdin: a.Stdin}
	for _, path := range o.files {
		f, err := in.Open(path)
		if err != nil {
			return nil, nil, "", nil, err
		}
		defer f.Close()
		text := bufio.NewReader(f)
		isRun, err := trec.IsRun(path, text)
		switch {
		case err != nil:
			return nil, nil, "", nil, err
		case isRun:
			run, err := trec.ReadRun(path, text)
			if err != nil {
				return nil, nil, "", nil, err
			}
			paths, runs = append(paths, path), append(runs, run)
			continue
		case qrels != nil:
			return nil, nil, "", nil, fmt.Errorf("%s and %s are both judgements (4 fields a line); give one, and runs (6 fields a line)", judgements, path)
		}
		if qrels, err = trec.ReadQrels(path, text); err != nil {
			return nil, nil, "", nil, err
		}
		judgements = path
	}
	switch {
	case o.fuse != "" && qrels != nil:
		err = fmt.Errorf("%s has judgements; --fuse joins runs: measure its output by another heddle eval", judgements)
	case o.fuse == "" && qrels == nil:
		err = fmt.Errorf("%v: all files are runs (6 fields a line); one must have judgements (4 fields a line)", o.files)
	}
	return paths, runs, judgements, qrels, err
}

// compare prints a line MEASURE TAB RUN TAB MEAN TAB DIFFERENCE TAB P TAB P for each measure
// and run, or a JSON object.
func (o *evalOptions) compare(a *App, paths []string, runs []trec.Run, judgements string, qrels trec.Qrels, options trec.Options) error {
	comparisons, queries, err := trec.Compare(runs, qrels, options)
	if err != nil {
		return fmt.Errorf("%v and %s: %w", paths, judgements, err)
	}
	fmt.Fprintf(a.Stderr, "heddle eval: %d of %d judged queries compared\n", queries, len(qrels))
	out := bufio.NewWriter(a.Stdout)
	if !o.json {
		fmt.Fprintf(out, "%-22s\trun\tmean\tdifference\tp (t-test)\tp (randomisation)\n", "measure")
	}
	for _, c := range comparisons {
		for i, r := range c.Runs {
			if o.json {
				object := map[string]any{"measure": c.Measure, "run": paths[i], "mean": r.Value, "queries": queries}
				if i > 0 {
					object["difference"] = r.Difference
				}
				for name, p := range map[string]float64{"p_t": r.T, "p_randomisation": r.Randomisation} {
					if !math.IsNaN(p) {
						object[name] = p
					}
				}
				if err := terminal.WriteJSON(out, object); err != nil {
					return err
				}
				continue
			}
			fmt.Fprintf(out, "%-22s\t%s\t%.4f\t%s\t%s\t%s\n", c.Measure, terminal.Field(paths[i]), r.Value,
				optional(i > 0, "%+.4f", r.Difference), optional(true, "%.4f", r.T), optional(true, "%.4f", r.Randomisation))
		}
	}
	return out.Flush()
}

// optional formats a value, or gives - without one.
func optional(present bool, format string, value float64) string {
	if !present || math.IsNaN(value) {
		return "-"
	}
	return fmt.Sprintf(format, value)
}

// writeFused prints the fused run.
func (o *evalOptions) writeFused(a *App, runs []trec.Run) error {
	fused, err := trec.Fuse(runs, trec.Fusion(o.fuse), o.depth)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(a.Stdout)
	return errors.Join(writeRun(out, fused), out.Flush())
}

// writeRun writes the queries of a run by ascending name.
func writeRun(out io.Writer, run trec.Run) error {
	var line []byte
	for _, query := range slices.Sorted(maps.Keys(run.Queries)) {
		for i, d := range run.Queries[query] {
			line = trec.AppendLine(line[:0], terminal.Field(query), terminal.Field(d.Doc), i+1, d.Score, run.ID)
			if _, err := out.Write(line); err != nil {
				return err
			}
		}
	}
	return nil
}
