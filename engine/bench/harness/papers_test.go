package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/bench/chart"
	"heddle/engine/bench/measure"
)

// placed returns a row of an exhibit.
func placed(exhibit, panel, series string, ours, paper float64) measure.Row {
	return measure.Single(ours).Into(measure.Row{Unit: "ms", Place: &measure.Place{Exhibit: exhibit, Panel: panel, Series: series, At: "1 M", X: 1 << 20, Paper: paper}})
}

// TestPerBandwidth: rates shrink and times grow by the ratio of the bandwidths; other figures
// and the host have no such ratio.
func TestPerBandwidth(t *testing.T) {
	paper := (&Exhibit{Source: "Wu et al. 2010, Figure 3"}).card()
	for _, test := range []struct {
		backend, device, metric string
		want                    float64
	}{
		{"opencl", "NVIDIA H200", "throughput", 102.0 / 4800}, {"opencl", "NVIDIA H200", "response", 4800.0 / 102},
		{"opencl", "NVIDIA H200", "share of kernels", 0}, {"opencl", "NVIDIA H300", "throughput", 0}, {"host", "pure Go", "throughput", 0},
	} {
		x := Reading{Row: measure.Row{Backend: test.backend, Device: test.device, Metric: test.metric}}
		if got := paper.perBandwidth(x); got != test.want {
			t.Errorf("%+v: %g", test, got)
		}
	}
}

// TestUnpublished: a figure with a great spread is neither shown, nor drawn, nor compared.
func TestUnpublished(t *testing.T) {
	noisy := placed("ao-fig5", "host", "bs", 5, 3)
	noisy.Runs, noisy.Min, noisy.Max = 5, 1, 99
	zero := placed("ao-fig5", "host", "lr", 0, 0) // has no place on the axis
	page, err := Papers([]Exhibit{{Name: "ao-fig5", Source: "Ao et al. 2011, Figure 5", Chart: chart.Chart{Kind: chart.Bars, LogY: true}}}, []Recorded{{"rows", []measure.Row{noisy, zero}}}, "plots")
	if text := string(page.Text); err != nil || len(page.Pictures) > 0 || !strings.Contains(text, "| 1 M | not published: spread 980 % | 3.00 | 0 |\n") ||
		!strings.Contains(text, "| no figures in the text |") || !strings.Contains(text, "1 of 2 figures not published") {
		t.Errorf("%v, %d pictures\n%s", err, len(page.Pictures), text)
	}
}

// TestPapersPage: a later file replaces panels of an earlier one, other panels stay;
// exhibits without rows say so; rows without a place do not count.
func TestPapersPage(t *testing.T) {
	exhibits := []Exhibit{
		{Name: "ao-fig10", Source: "Ao et al. 2011, Figure 10", Rows: "size", Chart: chart.Chart{Kind: chart.Bars}},
		{Name: "ao-fig11", Source: "Ao et al. 2011, Figure 11", Rows: "size"},
		{Name: "ao-fig9a", Source: "Ao et al. 2011, Figure 9 (a)", Rows: "size", Chart: chart.Chart{Kind: chart.Bars}},
		{Name: "ao-table3", Source: "Ao et al. 2011, Table 3", Rows: "size", Says: "Fast.", Ours: "Uniform order.", Found: "Faster here."},
		{Name: "pairs", Rows: "size"},
	}
	rate := placed("ao-fig9a", "rates", "bs", 30, 10)
	rate.Unit = "queries/s"
	page, err := Papers(exhibits, []Recorded{
		{"2026-11-01-abc1234-h200-first.jsonl", []measure.Row{placed("ao-table3", "gpu", "bs", 3, 0), placed("ao-table3", "host", "bs", 88, 10), placed("pairs", "host", "bs", 5, 0), rate}},
		{"second.jsonl", []measure.Row{placed("ao-table3", "host", "bs", 20, 10), placed("ao-table3", "host", "hs16", 30, 60), {Unit: "ms", Median: 99}, placed("ao-fig9a", "all cores", "bs", 1, 4), placed("ao-fig11", "host", "bs", 2, 0)}},
	}, "plots")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page.Text)
	for _, want := range []string{
		"| [ao-table3](#ao-table3) |  | abc1234 h200, second | 1.25 (0.500 to 2.00) |", "Paper: Fast.", "Here: Uniform order.", "Result: Faster here.", "Measured: abc1234 h200, second; runs of a figure: 1.",
		"gpu; ms (`2026-11-01-abc1234-h200-first.jsonl`)", "host; ms (`second.jsonl`)", "| size | bs | paper | ÷ paper | hs16 | paper | ÷ paper |", "| 1 M | 20.0 | 10.0 | 2.00 | 30.0 | 60.0 | 0.500 |",
		"![](plots/ao-fig9a-all-cores.svg)", "| [ao-fig9a](#ao-fig9a) |  | abc1234 h200, second | queries/s: 3.00 (3.00 to 3.00); ms: 0.250 (0.250 to 0.250) |", "| [ao-fig10](#ao-fig10) |  | not recorded |  |", "| [ao-fig11](#ao-fig11) |  | second | no figures in the text |", "\nNot recorded.\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "88.0") || strings.Contains(text, "99") || strings.Contains(text, "pairs") {
		t.Errorf("replaced or foreign rows in\n%s", text)
	}
	if table, nine, ten := strings.Index(text, "### ao-table3"), strings.Index(text, "### ao-fig9a"), strings.Index(text, "### ao-fig10"); table > nine || nine > ten {
		t.Errorf("order of sections: %d, %d, %d", table, nine, ten)
	}

	dir := t.TempDir()
	plots := filepath.Join(dir, "plots")
	if err := os.MkdirAll(plots, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(plots, "old.svg"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := page.Write(filepath.Join(dir, "PAPERS.md"), plots); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(plots)
	if err != nil || len(left) != 2 || left[0].Name() != "ao-fig9a-all-cores.svg" || left[1].Name() != "ao-fig9a-rates.svg" {
		t.Errorf("plots %v, %v", left, err)
	}
}
