package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heddle/codec"
)

var update = flag.Bool("update", false, "write testdata/report.golden.md")

// TestExhibits: every table and figure that is to be reproduced is there, once.
func TestExhibits(t *testing.T) {
	var names []string
	for _, e := range slices.Concat(listsExhibits(), decodeExhibits(), rankExhibits(), bitmapExhibits(), scheduleExhibits()) {
		names = append(names, e.name)
		if e.title == "" || e.rows == "" || e.run == nil {
			t.Errorf("%s lacks a title, a name for its rows or what it does", e.name)
		}
		if drawn := e.chart.kind != undrawn; drawn != e.isFigure() {
			t.Errorf("%s: figures are drawn, tables are not", e.name)
		}
		if e.chart.kind == lineChart && e.chart.x == "" {
			t.Errorf("%s: no label for x", e.name)
		}
	}
	want := strings.Fields(`ao-table1 ao-table2 ao-table3 ao-table4 ao-table5 ao-table7 ao-fig5 ao-fig6 ao-fig7 ao-fig8 ao-fig9a ao-fig9b
		ding-fig3 ding-fig4 ding-fig6 ding-fig7 ding-table1 capacity overhead prediction choice devices wu-fig3 wu-fig4 wu-fig5 wu-fig6 wu-fig7 wu-fig8 wu-fig9 wu-fig10 wu-table1 wu-table2 wu-table3
		log pairs skew sets primitives ints core
		gov2 ding-table2 ding-table3 accumulators resident rank-fig-k rank-fig-footprint sparse text
		or sizes auto batch encodings build nelson-fig8 nelson-fig9 nelson-fig10 nelson-fig11 nelson-fig12 nelson-fig13 nelson-fig14 nelson-table2`)
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("exhibits %v, want %v", names, want)
	}
}

func TestChoose(t *testing.T) {
	all := listsExhibits()
	if got, err := choose(all, nil, nil); err != nil || len(got) != len(all) {
		t.Errorf("%d of %d exhibits, %v", len(got), len(all), err)
	}
	got, err := choose(all, []string{" WU-fig5", "ao-fig5"}, []string{"log"})
	if err != nil || len(got) != 3 || got[0].name != "log" || got[1].name != "ao-fig5" || got[2].name != "wu-fig5" {
		t.Errorf("%d exhibits, %v", len(got), err)
	}
	for _, bad := range []Options{{Figures: []string{"log"}}, {Tables: []string{"ao-fig5"}}, {Tables: []string{""}}} {
		if err := CheckLists(bad); err == nil || !strings.Contains(err.Error(), "one of ") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if err := CheckDecode(Options{Tables: []string{"ints"}}); err != nil {
		t.Error(err)
	}
}

// testSets makes a folder with a set of three lists, a collection and topics, and
// tables.
func testSets(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	writeZip(t, filepath.Join(dir, "small.zip"), "1,5,9,1000", "5,9,70000\n", "0,5")
	writeCollection(t, dir)
	writeTables(t, dir)
	return dir
}

// onHost says whether the host alone can measure an exhibit.
func onHost(name string) bool {
	return !slices.Contains([]string{"primitives", "ao-fig9b", "wu-fig8", "ding-table3", "choice", "wu-table2", "wu-fig9", "wu-fig10",
		"nelson-fig8", "nelson-fig9", "nelson-fig11", "nelson-fig12", "nelson-fig14", "nelson-table2"}, name)
}

// TestReproduce runs everything on a tiny workload: each exhibit has rows that are
// whole, a place in the report, and pictures that are not empty.
func TestReproduce(t *testing.T) {
	for _, bench := range []struct {
		name     string
		exhibits []exhibit
		run      func(context.Context, Options, io.Writer, io.Writer) error
	}{{"lists", listsExhibits(), Lists}, {"decode", decodeExhibits(), Decode}, {"rank", rankExhibits(), Rank}, {"bitmap", bitmapExhibits(), Bitmap},
		{"schedule", scheduleExhibits(), Schedule}} {
		t.Run(bench.name, func(t *testing.T) {
			dir := t.TempDir()
			opt := tiny()
			opt.Threshold, opt.Peers, opt.Runs, opt.Real = 0, true, 1, testSets(t)
			opt.JSON, opt.Plot, opt.Report = filepath.Join(dir, "rows.json"), filepath.Join(dir, "plots"), filepath.Join(dir, "report.md")
			var out, log bytes.Buffer
			if err := bench.run(context.Background(), opt, &out, &log); err != nil {
				t.Fatalf("%v\n%s", err, &log)
			}
			rows := readRows(t, opt.JSON)
			for _, r := range rows {
				if r.Bench != bench.name || r.Workload == "" || r.Row == "" || r.Metric == "" || r.Unit == "" || r.Runs < 1 ||
					!(r.Min <= r.Median && r.Median <= r.Max) || (r.Baseline == "") != (r.Ratio == 0) {
					t.Errorf("row %+v", r)
				}
			}
			report, err := os.ReadFile(opt.Report)
			if err != nil {
				t.Fatal(err)
			}
			sections := strings.Split(string(report), "\n## ")
			if len(sections) != len(bench.exhibits)+1 {
				t.Fatalf("%d sections for %d exhibits", len(sections)-1, len(bench.exhibits))
			}
			for i, e := range bench.exhibits {
				section := sections[i+1]
				if !strings.HasPrefix(section, e.heading()+"\n") {
					t.Errorf("section %d is %.50q, want %s", i, section, e.name)
				}
				if onHost(e.name) == strings.Contains(section, "Nothing of this could be measured") {
					t.Errorf("%s: on the host\n%s", e.name, section)
				}
				if strings.Contains(section, "NaN") || strings.Contains(section, "Inf") {
					t.Errorf("%s: not a number\n%s", e.name, section)
				}
				if e.isFigure() && onHost(e.name) {
					checkPictures(t, dir, section)
				}
			}
			for _, left := range []string{opt.JSON, opt.Report} {
				if _, err := os.Stat(left + unfinished); err == nil {
					t.Errorf("%s%s is left behind", left, unfinished)
				}
			}
		})
	}
}

// checkPictures looks at the pictures that a section links.
func checkPictures(t *testing.T, dir, section string) {
	t.Helper()
	links := regexp.MustCompile(`\]\((.*?)\.svg\)`).FindAllStringSubmatch(section, -1)
	if len(links) == 0 {
		t.Errorf("no picture in\n%s", section)
	}
	for _, l := range links {
		base := filepath.Join(dir, filepath.FromSlash(l[1]))
		svg, err := os.ReadFile(base + ".svg")
		if err != nil || !bytes.Contains(svg, []byte("</svg>")) || !bytes.Contains(svg, []byte("<path")) {
			t.Errorf("%s.svg: %v, %d bytes", base, err, len(svg))
		}
		f, err := os.Open(base + ".png")
		if err != nil {
			t.Error(err)
			continue
		}
		img, err := png.Decode(f)
		f.Close()
		if err != nil {
			t.Errorf("%s.png: %v", base, err)
			continue
		}
		colours := make(map[any]bool)
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				colours[img.At(x, y)] = true
			}
		}
		if len(colours) < 5 {
			t.Errorf("%s.png has %d colours", base, len(colours))
		}
	}
}

// TestReportGolden holds the report of the tables that are the same on every
// machine, but for the line that names it.
func TestReportGolden(t *testing.T) {
	opt := tiny()
	opt.Orders, opt.Tables = []Order{Uniform, Clustered}, []string{"ao-table1", "ao-table4"}
	opt.Report = filepath.Join(t.TempDir(), "report.md")
	if err := Lists(context.Background(), opt, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(opt.Report)
	if err != nil {
		t.Fatal(err)
	}
	got = regexp.MustCompile(`(?m)^- host: .*$`).ReplaceAll(got, []byte("- host: some processor"))
	golden := filepath.Join("testdata", "report.golden.md")
	if *update {
		if err := os.WriteFile(golden, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("report:\n%s\nwant:\n%s", got, want)
	}
}

// TestReproduceOnDevice runs what only a device can measure, and what it measures
// besides, where there is one.
func TestReproduceOnDevice(t *testing.T) {
	if os.Getenv("HEDDLE_TEST_BACKEND") != "opencl" {
		t.Skip("HEDDLE_TEST_BACKEND is not opencl")
	}
	opt := tiny()
	opt.Backend, opt.Device, opt.Runs = "opencl", os.Getenv("HEDDLE_TEST_DEVICE"), 1
	opt.Tables, opt.Figures = []string{"pairs", "primitives", "ao-table7"}, []string{"ao-fig9b", "wu-fig6", "wu-fig8", "ding-fig6"}
	var out, log bytes.Buffer
	opt.JSON = "-"
	if err := Lists(context.Background(), opt, &out, &log); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	opt.Codecs = []codec.ID{codec.Raw, codec.ParaPFor}
	opt.Tables, opt.Figures = []string{"ints", "ding-table1"}, []string{"ding-fig4"}
	if err := Decode(context.Background(), opt, &out, &log); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	opt.Tables, opt.Figures = []string{"gov2", "ding-table3", "accumulators", "sparse"}, nil
	opt.Queries, opt.K = 20, []int{10}
	if err := Rank(context.Background(), opt, &out, &log); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	metrics := make(map[string]bool)
	for line := range strings.Lines(out.String()) {
		var r Row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if r.Backend != "opencl" || r.Device == "" || r.Runs < 1 || r.Median <= 0 && r.Unit != "%" {
			t.Errorf("row %+v", r)
		}
		metrics[r.Metric] = true
	}
	for _, m := range []string{"kernels", "end to end", "scan", "compaction at 50 %", "share of kernels", "share of transfers", "time", "decode", "response", "postings", "p99", "kernel throughput"} {
		if !metrics[m] {
			t.Errorf("no row of %q among %v", m, metrics)
		}
	}
}
