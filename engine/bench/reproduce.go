package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"heddle/engine/bench/bitmap"
	"heddle/engine/bench/decode"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/lists"
	"heddle/engine/bench/rank"
	"heddle/engine/bench/schedule"
	"heddle/engine/bench/workload"
	"heddle/engine/file/auxiliary"
)

// step is a run of a family with the options of the papers' exhibits.
type step struct {
	family   harness.Family
	exhibits string
	set      func(o *harness.Options) // options of a whole run
}

// clustered measures the order that stands for GOV.
func clustered(o *harness.Options) { o.Orders = []workload.Order{workload.Clustered} }

// steps measure the tables and figures of the papers, each once.
var steps = []step{
	{decode.Family, "ao-table2 ao-table5 ao-fig7 ao-fig8 ding-table1 ding-fig3 ding-fig4", clustered},
	{lists.Family, "ao-table1 ao-table4 ao-memory ao-heads ao-fig1 ao-fig3 ao-fig5 ao-fig6 ao-fig9a ao-fig9b ding-uneven ding-fig6 wu-fig5 wu-fig6 wu-fig8", clustered},
	{lists.Family, "ao-table3 ao-table7 ao-local", func(*harness.Options) {}},
	{schedule.Family, "wu-table1 wu-table2 wu-fig3 wu-fig4 wu-fig7", func(o *harness.Options) { o.Queries = 100_000 }},
	{schedule.Family, "wu-table3 wu-fig9 wu-fig10", func(o *harness.Options) { o.Queries = 5000 }},
	{schedule.Family, "prediction", func(o *harness.Options) { o.Docs, o.Queries = 1_000_000, 4000 }},
	{schedule.Family, "ding-fig7", func(o *harness.Options) { o.Queries = 2000 }},
	{rank.Family, "ding-table2 ding-table3 accumulators rank-fig-footprint", func(o *harness.Options) { o.K = []int{10} }},
	{bitmap.Family, "nelson-table2 nelson-fig8 nelson-fig9 nelson-fig10 nelson-fig11 nelson-fig12 nelson-fig13 nelson-fig14 nelson-fig-rows", func(*harness.Options) {}},
}

// request identifies what a folder of parts holds.
type request struct {
	Begun           string // date
	Commit, Machine string
	Options         harness.Options
}

// Reproduce measures the tables and figures of the papers and returns the path of a file
// in dir with all rows, which is named DATE-COMMIT-MACHINE-papers.jsonl. The folder dir
// keeps the rows of each exhibit: after an interruption, a call with the same arguments
// goes on behind the last one. A folder with rows of other arguments is an error.
func Reproduce(ctx context.Context, dir, commit, machine string, opt harness.Options, stdout, stderr io.Writer) (string, error) {
	asked, err := begin(dir, request{time.Now().UTC().Format(time.DateOnly), commit, machine, opt})
	if err != nil {
		return "", err
	}
	for i, s := range steps {
		o := opt
		o.Parts = filepath.Join(dir, "parts")
		if !o.Short {
			s.set(&o)
		}
		o.Figures, o.Tables = nil, nil
		for name := range strings.FieldsSeq(s.exhibits) {
			if strings.Contains(name, "-fig") {
				o.Figures = append(o.Figures, name)
			} else {
				o.Tables = append(o.Tables, name)
			}
		}
		fmt.Fprintf(stderr, "part %d of %d: bench %s, %s\n", i+1, len(steps), s.family.Name, s.exhibits)
		if err := s.family.Run(ctx, o, stdout, stderr); err != nil {
			return "", err
		}
	}
	parts, err := filepath.Glob(filepath.Join(dir, "parts", "*.jsonl"))
	if err != nil {
		return "", err
	}
	slices.Sort(parts)
	var all bytes.Buffer
	for _, path := range parts {
		rows, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		all.Write(rows)
	}
	path := filepath.Join(dir, asked.Begun+"-"+commit+"-"+machine+"-papers.jsonl")
	return path, auxiliary.Replace(path, all.Bytes())
}

// begin makes the folder of a request, or checks that it is of the same one, whose date it
// returns.
func begin(dir string, asked request) (request, error) {
	path := filepath.Join(dir, "request.json")
	if err := os.MkdirAll(filepath.Join(dir, "parts"), 0o777); err != nil {
		return asked, err
	}
	old, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		text, err := json.MarshalIndent(asked, "", "\t")
		if err != nil {
			return asked, err
		}
		return asked, auxiliary.Replace(path, append(text, '\n'))
	}
	if err != nil {
		return asked, err
	}
	var begun request
	if err := json.Unmarshal(old, &begun); err != nil {
		return asked, fmt.Errorf("%s: %w", path, err)
	}
	asked.Begun = begun.Begun
	if text, err := json.MarshalIndent(asked, "", "\t"); err != nil || !bytes.Equal(append(text, '\n'), old) {
		return asked, fmt.Errorf("%s has rows of another commit, machine or options: name another folder", dir)
	}
	return asked, nil
}
