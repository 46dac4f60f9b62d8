package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"heddle/codec"
	"heddle/engine/bench/chart"
	"heddle/engine/bench/decode"
	"heddle/engine/bench/harness/harnesstest"
	"heddle/engine/bench/lists"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/rank"
	"heddle/engine/plan/testneeds"
)

// TestExhibits: every table and figure that is to be reproduced is there, once.
func TestExhibits(t *testing.T) {
	var names []string
	for _, e := range Exhibits() {
		names = append(names, e.Name)
		if e.Title == "" || e.Rows == "" || e.Run == nil {
			t.Errorf("%s lacks a title, a name for its rows or what it does", e.Name)
		}
		if drawn := e.Chart.Kind != chart.None; drawn != e.IsFigure() {
			t.Errorf("%s: figures are drawn, tables are not", e.Name)
		}
		if e.Chart.Kind == chart.Lines && e.Chart.X == "" {
			t.Errorf("%s: no label for x", e.Name)
		}
	}
	want := strings.Fields(`ao-table1 ao-table2 ao-table3 ao-table4 ao-table5 ao-table7 ao-memory ao-heads ao-local ao-fig1 ao-fig3 ao-fig5 ao-fig6 ao-fig7 ao-fig8 ao-fig9a ao-fig9b
		ding-fig3 ding-fig4 ding-fig6 ding-fig7 ding-uneven ding-table1 capacity overhead callers prediction choice devices wu-fig3 wu-fig4 wu-fig5 wu-fig6 wu-fig7 wu-fig8 wu-fig9 wu-fig10 wu-table1 wu-table2 wu-table3
		log pairs skew sets croaring primitives ints core
		gov2 ding-table2 ding-table3 accumulators resident rank-fig-k rank-fig-footprint gov2-reordered sparse text pisa policies
		or sizes auto batch encodings build nelson-fig8 nelson-fig9 nelson-fig10 nelson-fig11 nelson-fig12 nelson-fig13 nelson-fig14 nelson-fig-rows nelson-table2`)
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("exhibits %v, want %v", names, want)
	}
}

// TestReproduceOnDevice runs the exhibits of a device, if there is one.
func TestReproduceOnDevice(t *testing.T) {
	device := testneeds.Device(t)
	testneeds.OneCaller(t)
	opt := harnesstest.Tiny()
	opt.Backend, opt.Device, opt.Runs = "opencl", device, 1
	opt.Tables, opt.Figures = []string{"pairs", "primitives", "ao-table7"}, []string{"ao-fig9b", "wu-fig6", "wu-fig8", "ding-fig6"}
	var out, log bytes.Buffer
	opt.JSON = "-"
	if err := lists.Family.Run(context.Background(), opt, &out, &log); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	opt.Codecs = []codec.ID{codec.Raw, codec.ParaPFor}
	opt.Tables, opt.Figures = []string{"ints", "ding-table1"}, []string{"ding-fig4"}
	if err := decode.Family.Run(context.Background(), opt, &out, &log); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	opt.Tables, opt.Figures = []string{"gov2", "ding-table3", "accumulators", "sparse"}, nil
	opt.Queries, opt.K = 20, []int{10}
	if err := rank.Family.Run(context.Background(), opt, &out, &log); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	metrics := make(map[string]bool)
	for line := range strings.Lines(out.String()) {
		var r measure.Row
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
