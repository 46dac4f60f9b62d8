// Package evaluation reads the files of an evaluation, and prints comparisons of runs.
package evaluation

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

// Inputs are the files of an evaluation.
type Inputs struct {
	Paths      []string // files of the runs
	Runs       []trec.Run
	Judgements string // path of the judgements
	Qrels      trec.Qrels
}

// Read reads runs, and one file of judgements unless the runs are fused.
func Read(ctx context.Context, stdin io.Reader, files []string, fused bool) (all Inputs, err error) {
	in := input.Opener{Ctx: ctx, Stdin: stdin}
	for _, path := range files {
		f, err := in.Open(path)
		if err != nil {
			return Inputs{}, err
		}
		defer f.Close()
		text := bufio.NewReader(f)
		isRun, err := trec.IsRun(path, text)
		switch {
		case err != nil:
			return Inputs{}, err
		case isRun:
			run, err := trec.ReadRun(path, text)
			if err != nil {
				return Inputs{}, err
			}
			all.Paths, all.Runs = append(all.Paths, path), append(all.Runs, run)
			continue
		case all.Qrels != nil:
			return Inputs{}, fmt.Errorf("%s and %s are both judgements (4 fields a line); give one, and runs (6 fields a line)", all.Judgements, path)
		}
		if all.Qrels, err = trec.ReadQrels(path, text); err != nil {
			return Inputs{}, err
		}
		all.Judgements = path
	}
	switch {
	case fused && all.Qrels != nil:
		err = fmt.Errorf("%s has judgements; --fuse joins runs: measure its output by another heddle eval", all.Judgements)
	case !fused && all.Qrels == nil:
		err = fmt.Errorf("%v: all files are runs (6 fields a line); one must have judgements (4 fields a line)", files)
	}
	return all, err
}

// Compare prints a line MEASURE TAB RUN TAB MEAN TAB DIFFERENCE TAB P TAB P for each measure
// and run, or a JSON object.
func (all *Inputs) Compare(stdout, stderr io.Writer, json bool, options trec.Options) error {
	comparisons, queries, err := trec.Compare(all.Runs, all.Qrels, options)
	if err != nil {
		return fmt.Errorf("%v and %s: %w", all.Paths, all.Judgements, err)
	}
	fmt.Fprintf(stderr, "heddle eval: %d of %d judged queries compared\n", queries, len(all.Qrels))
	out := bufio.NewWriter(stdout)
	if !json {
		fmt.Fprintf(out, "%-22s\trun\tmean\tdifference\tp (t-test)\tp (randomisation)\n", "measure")
	}
	for _, c := range comparisons {
		for i, r := range c.Runs {
			if json {
				object := map[string]any{"measure": c.Measure, "run": all.Paths[i], "mean": r.Value, "queries": queries}
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
			fmt.Fprintf(out, "%-22s\t%s\t%.4f\t%s\t%s\t%s\n", c.Measure, terminal.Field(all.Paths[i]), r.Value,
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

// Fuse prints the fusion of the runs, with at most depth documents of each query.
func (all *Inputs) Fuse(stdout io.Writer, by trec.Fusion, depth int) error {
	fused, err := trec.Fuse(all.Runs, by, depth)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(stdout)
	return errors.Join(write(out, fused), out.Flush())
}

// write writes the queries of a run by ascending name.
func write(out io.Writer, run trec.Run) error {
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

// Write writes the measures of one query, or the means, as lines of trec_eval or as a
// JSON object.
func Write(out io.Writer, r *trec.Report, m *trec.Measures, json bool) error {
	object := map[string]any{"query": m.Query}
	for _, v := range r.Values(m) {
		object[v.Name] = v.Value
		if v.Text != "" {
			object[v.Name] = v.Text
		}
		if json {
			continue
		}
		text := fmt.Sprintf("%6.4f", v.Value)
		switch {
		case v.Text != "":
			text = terminal.Field(v.Text)
		case v.Count:
			text = fmt.Sprintf("%.0f", v.Value)
		}
		if _, err := fmt.Fprintf(out, "%-22s\t%s\t%s\n", v.Name, terminal.Field(m.Query), text); err != nil {
			return err
		}
	}
	if json {
		return terminal.WriteJSON(out, object)
	}
	return nil
}
