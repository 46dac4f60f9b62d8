package harness

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"heddle/engine/bench/measure"
)

// part is the path of the rows of an exhibit on the current collection.
func (r *Runner) part(e *Exhibit) string {
	return filepath.Join(r.Opt.Parts, e.Name+measure.When(r.set != "", "-"+fileName(r.set))+".jsonl")
}

// kept reports whether the folder of parts has the rows of all the exhibits.
func (r *Runner) kept(all []*Exhibit) bool {
	return r.Opt.Parts != "" && !slices.ContainsFunc(all, func(e *Exhibit) bool {
		_, err := os.Stat(r.part(e))
		return err != nil
	})
}

// once runs f, which measures the exhibit, unless the folder of parts has its rows, which it
// reads then. The last row of a part is its time.
func (r *Runner) once(e *Exhibit, f func() error) (err error) {
	if r.Opt.Parts == "" {
		return f()
	}
	file, err := os.Open(r.part(e))
	if err == nil {
		defer file.Close()
		rows, err := measure.ReadRows(file)
		for _, row := range rows {
			if p := row.Place; p != nil {
				r.readings[e.Name] = append(r.readings[e.Name], Reading{Panel: p.Panel, Series: p.Series, At: p.At, X: p.X, Paper: p.Paper, Row: row})
			}
		}
		return err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	all := r.rows
	defer func() { r.rows = all }()
	if r.rows, err = measure.Open(r.part(e), nil); err != nil {
		return err
	}
	began := time.Now()
	if err = f(); err == nil {
		err = r.rows.Write(measure.Single(time.Since(began).Seconds()).Into(measure.Row{Bench: r.family.Name, Workload: r.set + " " + e.Title, Row: e.Name, Metric: "wall", Unit: "s"}))
	}
	return r.rows.Close(err)
}
