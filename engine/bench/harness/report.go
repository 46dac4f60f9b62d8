package harness

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"heddle/engine/bench/chart"
	"heddle/engine/bench/measure"
)

// publish draws the pictures and writes the report, if the options name their
// places.
func (r *Runner) publish(chosen []Exhibit) error {
	pictures := make(map[string]string) // paths, by pictureName
	if r.Opt.Plot != "" {
		for i := range chosen {
			e := &chosen[i]
			names, parts := panels(r.readings[e.Name])
			for _, name := range names {
				part := e.shown(parts[name])
				if len(part) == 0 || !e.draws(part) {
					continue
				}
				path := filepath.Join(r.Opt.Plot, pictureName(e, name))
				if err := e.Chart.Draw(path, e.Title+"\n"+name, units(part), points(part)); err != nil {
					return fmt.Errorf("%s: %w", e.Name, err)
				}
				pictures[pictureName(e, name)] = path + ".svg"
			}
		}
	}
	if r.Opt.Report == "" {
		return nil
	}
	f, err := os.Create(r.Opt.Report + measure.Unfinished)
	if err != nil {
		return err
	}
	r.report(f, chosen, pictures)
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), r.Opt.Report)
}

// points returns the readings as a chart shows them.
func points(part []Reading) (all []chart.Point) {
	for _, x := range part {
		all = append(all, chart.Point{Series: x.Series, At: x.At, X: x.X, Y: x.Median, Paper: x.Paper})
	}
	return all
}

// pictureName is the name of the picture of a panel, without its ending.
func pictureName(e *Exhibit, panel string) string { return e.Name + "-" + fileName(panel) }

// fileName turns the name of a panel into the name of a file.
func fileName(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), "-")
}

// report writes the measured figures beside the papers' figures, in Markdown. Links
// to pictures are relative to the report.
func (r *Runner) report(out io.Writer, chosen []Exhibit, pictures map[string]string) {
	fmt.Fprintf(out, "# heddle bench %s\n\nSeed %d, %s. Measured on:\n\n", r.family.Name, r.Opt.Seed, r.family.Size(&r.Opt))
	for _, c := range r.Contestants {
		fmt.Fprintf(out, "- %s: %s%s\n", c.Name, c.Info.Device, measure.When(c.Info.Driver != "", ", driver "+c.Info.Driver))
	}
	fmt.Fprint(out, "\nFigures are medians; ± is half the distance of the slowest from the fastest run. \"Paper\" quotes the table or text of the paper.\n")
	for i := range chosen {
		e := &chosen[i]
		fmt.Fprintf(out, "\n## %s\n", e.Heading())
		for _, text := range []string{measure.When(e.Says != "", "Paper: "+e.Says), measure.When(e.Ours != "", "Here: "+e.Ours)} {
			if text != "" {
				fmt.Fprintf(out, "\n%s\n", text)
			}
		}
		names, parts := panels(r.readings[e.Name])
		if len(names) == 0 {
			fmt.Fprint(out, "\nNothing of this could be measured here.\n")
		}
		for _, name := range names {
			fmt.Fprintf(out, "\n%s; %s\n\n", name, units(parts[name]))
			table(out, grid(e.Rows, parts[name], e.card()))
			if path := pictures[pictureName(e, name)]; path != "" {
				if rel, err := filepath.Rel(filepath.Dir(r.Opt.Report), path); err == nil {
					path = rel
				}
				fmt.Fprintf(out, "\n![%s](%s)\n", e.Title, filepath.ToSlash(path))
			}
		}
	}
}

// table writes lines as a table in Markdown.
func table(out io.Writer, lines [][]string) {
	for i, line := range lines {
		fmt.Fprintf(out, "| %s |\n", strings.Join(line, " | "))
		if i == 0 {
			fmt.Fprintf(out, "|%s\n", strings.Repeat("---|", len(line)))
		}
	}
}
