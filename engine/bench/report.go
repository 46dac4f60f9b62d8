package bench

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// publish draws the figures and writes the report, where they are asked for.
func (s *session) publish(chosen []exhibit) error {
	pictures := make(map[string][]string) // by exhibit, a path a panel
	if s.opt.Plot != "" {
		for i := range chosen {
			e := &chosen[i]
			if e.chart.kind == undrawn {
				continue
			}
			names, parts := panels(s.readings[e.name])
			for _, name := range names {
				path := filepath.Join(s.opt.Plot, e.name+"-"+fileName(name))
				if err := e.chart.draw(path, e.title+"\n"+name, parts[name]); err != nil {
					return fmt.Errorf("%s: %w", e.name, err)
				}
				pictures[e.name] = append(pictures[e.name], path+".svg")
			}
		}
	}
	if s.opt.Report == "" {
		return nil
	}
	f, err := os.Create(s.opt.Report + unfinished)
	if err != nil {
		return err
	}
	s.report(f, chosen, pictures)
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), s.opt.Report)
}

// fileName makes a name for a file of the name of a panel.
func fileName(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), "-")
}

// report writes what was measured beside what the papers have, in Markdown.
// Pictures are linked relative to the report.
func (s *session) report(out io.Writer, chosen []exhibit, pictures map[string][]string) {
	size := fmt.Sprintf("%d of %d themes", s.opt.themes(), MaxThemes)
	switch s.bench {
	case "rank":
		size = fmt.Sprintf("%d documents", s.opt.Docs)
	case "bitmap":
		size = fmt.Sprintf("%d rows", s.opt.Rows)
	}
	fmt.Fprintf(out, "# heddle bench %s\n\nSeed %d, %s. Measured on:\n\n", s.bench, s.opt.Seed, size)
	for _, c := range s.contestants {
		fmt.Fprintf(out, "- %s: %s%s\n", c.name, c.info.Device, known(c.info.Driver != "", ", driver "+c.info.Driver))
	}
	fmt.Fprint(out, "\nFigures are medians; ± is half the distance of the slowest from the fastest run. \"Paper\" is what the paper's table or text has.\n")
	for i := range chosen {
		e := &chosen[i]
		fmt.Fprintf(out, "\n## %s\n", e.heading())
		for _, text := range []string{known(e.says != "", "Paper: "+e.says), known(e.ours != "", "Here: "+e.ours)} {
			if text != "" {
				fmt.Fprintf(out, "\n%s\n", text)
			}
		}
		names, parts := panels(s.readings[e.name])
		if len(names) == 0 {
			fmt.Fprint(out, "\nNothing of this could be measured here.\n")
		}
		for j, name := range names {
			fmt.Fprintf(out, "\n%s; %s\n\n", name, units(parts[name]))
			for k, line := range grid(e.rows, parts[name]) {
				fmt.Fprintf(out, "| %s |\n", strings.Join(line, " | "))
				if k == 0 {
					fmt.Fprintf(out, "|%s\n", strings.Repeat("---|", len(line)))
				}
			}
			if j < len(pictures[e.name]) {
				path := pictures[e.name][j]
				if rel, err := filepath.Rel(filepath.Dir(s.opt.Report), path); err == nil {
					path = rel
				}
				fmt.Fprintf(out, "\n![%s](%s)\n", e.title, filepath.ToSlash(path))
			}
		}
	}
}
