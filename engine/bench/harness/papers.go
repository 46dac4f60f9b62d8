package harness

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"heddle/engine/bench/measure"
	"heddle/engine/file/auxiliary"
)

// papers are the papers in the order of the page. The source of an exhibit begins with one.
var papers = []struct {
	name, title string
	card        card
}{
	{"Ao et al. 2011", "Efficient parallel lists intersection and index compression algorithms using graphics processing units", card{"GeForce GTX 480", 177.4, "the paper"}},
	{"Wu et al. 2010", "Efficient lists intersection by CPU-GPU cooperative computing", card{"Tesla C1060", 102, "the paper"}},
	{"Ding et al. 2009", "Using graphics processors for high performance IR query processing", card{"GeForce 8800 GTS 640 MB", 64, "NVIDIA's specification"}},
	{"Nelson et al. 2020", "Parallel acceleration of CPU and GPU range queries over large data sets", card{"GeForce GTX 1080", 320, "NVIDIA's specification"}},
}

// card returns the device of the exhibit's paper.
func (e *Exhibit) card() card {
	for _, p := range papers {
		if strings.HasPrefix(e.Source, p.name) {
			return p.card
		}
	}
	return card{}
}

// Recorded is a file of rows of an earlier run.
type Recorded struct {
	Name string
	Rows []measure.Row
}

// Page is the page of the papers and its pictures.
type Page struct {
	Text     []byte
	Pictures map[string][]byte // SVG by file name
}

// record holds the newest readings of one exhibit, by panel.
type record struct {
	names  []string             // panels in the order of first appearance
	panels map[string][]Reading // by panel
	files  map[string]string    // the file of each panel
}

// Papers makes a page that shows each table and figure of the papers: the paper's
// figures, the recorded ones, and their ratio. A panel of a later file replaces
// the panel of an earlier one. The page looks for its pictures in the folder plots.
// Rows without a place, and rows of exhibits of our own, are left out.
func Papers(exhibits []Exhibit, files []Recorded, plots string) (Page, error) {
	records := collect(files)
	page := Page{Pictures: make(map[string][]byte)}
	var contents, sections bytes.Buffer
	for _, p := range papers {
		fmt.Fprintf(&sections, "\n## %s: %s\n\nIts device is a %s, %s GB/s (%s).\n", p.name, p.title, p.card.name, measure.Number(p.card.gb), p.card.source)
		for _, e := range ofPaper(exhibits, p.name) {
			r := records[e.Name]
			fmt.Fprintf(&contents, "| [%s](#%s) | %s | %s | %s |\n", e.Name, e.Name, e.Title, stateOf(r), r.ratios())
			if err := page.section(&sections, e, r, plots); err != nil {
				return Page{}, fmt.Errorf("%s: %w", e.Name, err)
			}
		}
	}
	var out bytes.Buffer
	fmt.Fprint(&out, "# The papers' tables and figures\n\n",
		"`heddle bench papers` writes this page from the rows in `results/`. Each section quotes the paper, states how our measurement\n",
		"differs, and shows the figures: ours, the paper's, and ours ÷ the paper's. Figures are medians; ± is half the distance of the\n",
		"slowest from the fastest run, and where a call ran fifteen times or more, of the medians of five parts of them. The papers' text gives few numbers of their charts; without a number the section quotes the text.\n",
		"All numbers of a result are computed from its rows; \"a to b\" is the least and the greatest.\n",
		"A figure with a spread of more than 50 % is not published. Where a ratio compares devices, a second one divides each rate by the bandwidth\n",
		"of its device's memory, as data sheets state it: ", ourCards(), ".\n\n",
		"A ratio compares figures as they stand: below 1, a time is shorter and a rate is lower than the paper's. The files of rows are named\n",
		"by date, commit and machine: h200 is one NVIDIA H200 with 16 Xeon cores, 2xh200 two of them, 2cores two cores that also did other work.\n\n",
		"Names of the papers: BS is binary search, LR search in a regression line, and HS16 search in hash segments of about 16 docIDs; LRC compresses a list as\n",
		"distances from regression lines. A batch of PARA shares the elements of all its queries among work-items; PART gives each query to a work-group. LOS is the\n",
		"length of the shortest list of a query, UBOC an upper bound of its comparisons, and UBOCT this bound per thread. COA and ROA decompress bitmaps, and join\n",
		"them by columns or by rows; hybrid joins tiles. GPU+LPS decodes with a prefix sum in the same launch.\n\n",
		"| exhibit | title | commit and machine | ours ÷ paper: median (least to greatest) |\n|---|---|---|---|\n")
	contents.WriteTo(&out)
	sections.WriteTo(&out)
	page.Text = out.Bytes()
	return page, nil
}

// collect groups the rows of files by exhibit and panel.
func collect(files []Recorded) map[string]*record {
	records := make(map[string]*record)
	for _, f := range files {
		for _, row := range f.Rows {
			if row.Place == nil {
				continue
			}
			p := *row.Place
			r := records[p.Exhibit]
			if r == nil {
				r = &record{panels: make(map[string][]Reading), files: make(map[string]string)}
				records[p.Exhibit] = r
			}
			if r.files[p.Panel] == "" {
				r.names = append(r.names, p.Panel)
			}
			if r.files[p.Panel] != f.Name {
				r.files[p.Panel], r.panels[p.Panel] = f.Name, nil
			}
			r.panels[p.Panel] = append(r.panels[p.Panel], Reading{Panel: p.Panel, Series: p.Series, At: p.At, X: p.X, Paper: p.Paper, Row: row})
		}
	}
	return records
}

// ofPaper returns the exhibits of one paper: tables, then figures, by number.
func ofPaper(all []Exhibit, paper string) (some []Exhibit) {
	for _, e := range all {
		if strings.HasPrefix(e.Source, paper) {
			some = append(some, e)
		}
	}
	slices.SortFunc(some, func(a, b Exhibit) int {
		return cmp.Or(tablesFirst(a)-tablesFirst(b), cmp.Compare(len(strings.TrimRight(a.Name, "abcdef")), len(strings.TrimRight(b.Name, "abcdef"))), cmp.Compare(a.Name, b.Name))
	})
	return some
}

func tablesFirst(e Exhibit) int {
	if e.IsFigure() {
		return 1
	}
	return 0
}

// ratios summarizes our figures over the paper's, by unit.
func (r *record) ratios() string {
	if r == nil {
		return ""
	}
	var units, texts []string
	all := make(map[string][]float64)
	for _, name := range r.names {
		for _, x := range r.panels[name] {
			if x.Paper == 0 || !published(x.Row) {
				continue
			}
			if all[x.Unit] == nil {
				units = append(units, x.Unit)
			}
			all[x.Unit] = append(all[x.Unit], x.Median/x.Paper)
		}
	}
	for _, unit := range units {
		s := measure.Summarize(all[unit])
		text := fmt.Sprintf("%s (%s to %s)", measure.Number(s.Median), measure.Number(s.Min), measure.Number(s.Max))
		if len(units) > 1 {
			text = unit + ": " + text
		}
		texts = append(texts, text)
	}
	return cmp.Or(strings.Join(texts, "; "), "no figures in the text")
}

// longTable is the number of lines from which a table is folded.
const longTable = 24

// stateOf names the commits and machines of a record: files are named DATE-COMMIT-MACHINE.
func stateOf(r *record) string {
	if r == nil {
		return "not recorded"
	}
	var all []string
	for _, name := range r.names {
		file := strings.TrimSuffix(r.files[name], ".jsonl")
		if parts := strings.Split(file, "-"); len(parts) > 4 {
			file = parts[3] + " " + parts[4]
		}
		if !slices.Contains(all, file) {
			all = append(all, file)
		}
	}
	return strings.Join(all, ", ")
}

// measured states commits, devices, runs and spreads of a record.
func (r *record) measured() string {
	var devices []string
	runs, spreads, hidden, all := []float64{}, []float64{}, 0, 0
	for _, name := range r.names {
		for _, x := range r.panels[name] {
			if all++; x.Device != "" && !slices.Contains(devices, x.Device) {
				devices = append(devices, x.Device)
			}
			runs = append(runs, float64(x.Runs))
			if !published(x.Row) {
				hidden++
			} else if x.Runs > 1 {
				spreads = append(spreads, spreadOf(x.Row))
			}
		}
	}
	n, s := measure.Summarize(runs), measure.Summarize(spreads)
	return fmt.Sprintf("%s; %sruns of a figure: %s%s%s", stateOf(r), measure.When(len(devices) > 0, "on "+list(devices)+"; "), strings.Join(slices.Compact([]string{fmt.Sprint(n.Min), fmt.Sprint(n.Max)}), " to "),
		measure.When(s.Runs > 0, fmt.Sprintf("; spread ±%.0f%% in the median, at most ±%.0f%%", s.Median, s.Max)),
		measure.When(hidden > 0, fmt.Sprintf("; %d of %d figures not published", hidden, all)))
}

// section writes one exhibit.
func (page Page) section(out io.Writer, e Exhibit, r *record, plots string) error {
	fmt.Fprintf(out, "\n### %s\n\n%s. %s\n", e.Name, e.Source, e.Title)
	found, err := e.sentence(r)
	if err != nil {
		return err
	}
	for _, part := range [][2]string{{"Paper", e.Says}, {"Here", e.Ours}, {"Result", found}} {
		if part[1] != "" {
			fmt.Fprintf(out, "\n%s: %s\n", part[0], part[1])
		}
	}
	if r == nil {
		fmt.Fprint(out, "\nNot recorded.\n")
		return nil
	}
	fmt.Fprintf(out, "\nMeasured: %s.\n", r.measured())
	for _, name := range r.names {
		part := r.panels[name]
		fmt.Fprintf(out, "\n%s; %s (`%s`)\n\n", name, units(part), r.files[name])
		if shown := e.shown(part); len(shown) > 0 && e.draws(shown) {
			var svg bytes.Buffer
			if err := e.Chart.SVG(&svg, e.Title+"\n"+name, units(part), points(shown)); err != nil {
				return err
			}
			file := pictureName(&e, name) + ".svg"
			page.Pictures[file] = svg.Bytes()
			fmt.Fprintf(out, "![%s](%s/%s)\n\n", e.Title, plots, file)
		}
		lines := grid(e.Rows, part, e.card())
		if len(lines) > longTable {
			fmt.Fprintf(out, "<details><summary>%d rows</summary>\n\n", len(lines)-1)
			table(out, lines)
			fmt.Fprint(out, "\n</details>\n")
			continue
		}
		table(out, lines)
	}
	return nil
}

// Write writes the page to path and its pictures to the folder plots, which it creates.
// Other pictures in the folder, of earlier pages, are removed.
func (page Page) Write(path, plots string) error {
	old, err := filepath.Glob(filepath.Join(plots, "*.svg"))
	if err != nil {
		return err
	}
	for _, file := range old {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(plots, 0o777); err != nil {
		return err
	}
	for name, svg := range page.Pictures {
		if err := auxiliary.Replace(filepath.Join(plots, name), svg); err != nil {
			return err
		}
	}
	return auxiliary.Replace(path, page.Text)
}
