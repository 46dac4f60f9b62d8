package schedule

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"heddle/engine/bench/benchtest"
	"heddle/engine/bench/harness/harnesstest"
	"heddle/engine/bench/load"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/internal/schedule"
	"heddle/engine/plan/testneeds"
)

// TestSchedule: every configuration has rows, and the rows are consistent.
func TestSchedule(t *testing.T) {
	testneeds.OneCaller(t) // benchmarks run without the race detector on the host, too
	t.Setenv("TMPDIR", t.TempDir())
	opt := harnesstest.Tiny()
	opt.Threshold, opt.Queries, opt.Runs = 0, 40, 1
	opt.Tables = []string{"capacity", "callers", "prediction"}
	opt.JSON = filepath.Join(t.TempDir(), "rows.json")
	systems := []string{"host only"}
	if testneeds.OnDevice() {
		opt.Backend, opt.Device = "auto", testneeds.Device(t)
		opt.Figures, opt.Tables = []string{"ding-fig7"}, append(opt.Tables, "overhead", "choice", "devices")
		systems = []string{"host only", "device only", "both", theBetter}
	}
	var out, log bytes.Buffer
	if err := Family.Run(t.Context(), opt, &out, &log); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	rows := make(map[string]measure.Row) // by workload, row and metric
	workloads := make(map[string]bool)
	for _, r := range harnesstest.ReadRows(t, opt.JSON) {
		rows[r.Workload+"; "+r.Row+"; "+r.Metric] = r
		workloads[r.Workload] = true
		if strings.Contains(r.Row, " only") != (r.Backend != "") && len(systems) == 1 {
			t.Errorf("backend of %+v", r)
		}
		if strings.HasSuffix(r.Metric, "delay") && (r.Median <= 0 || !strings.Contains(r.Row, "queries/s")) {
			t.Errorf("delay %+v", r)
		}
	}
	names := slices.Sorted(maps.Keys(workloads))
	if len(names) != 4 { // lists, and three modes of ranking
		t.Errorf("workloads %q", names)
	}
	for _, w := range names {
		ranked := strings.HasPrefix(w, "gov2")
		for _, system := range systems {
			if (!ranked || strings.HasSuffix(w, ", and")) && system != theBetter {
				for _, deadline := range deadlines {
					at := fmt.Sprintf("%s; %s, deadline %d ms; ", w, system, deadline.Milliseconds())
					sustained := rows[at+"sustained"]
					if deadline > time.Second/4 && sustained.Median <= 0 {
						t.Errorf("%s%v queries/s", at, sustained.Median)
					}
					if system == "both" && sustained.Runs > 0 && sustained.Ratio <= 0 {
						t.Errorf("%s%v times the better one", at, sustained.Ratio)
					}
					p50, p99, rate := rows[at+"p50 at equal rates"], rows[at+"p99 at equal rates"], rows[at+"rate of the delays"]
					if p99.Runs > 0 && (p50.Median <= 0 || p50.Median > p99.Median || rate.Median <= 0 || rate.Median > sustained.Median) {
						t.Errorf("%sp50 %v, p99 %v at %v of %v queries/s", at, p50.Median, p99.Median, rate.Median, sustained.Median)
					}
				}
			}
			if (!ranked || strings.HasSuffix(w, ", and")) && system != theBetter {
				at := fmt.Sprintf("%s; %s, %d callers; ", w, system, manyCallers)
				p50, p99 := rows[at+"p50"], rows[at+"p99"]
				if rows[at+"throughput"].Median <= 0 || rows[at+"CPU time"].Median <= 0 || p50.Median <= 0 || p50.Median > p99.Median {
					t.Errorf("%sp50 %v, p99 %v", at, p50.Median, p99.Median)
				}
			}
			if strings.HasSuffix(system, "only") {
				if r := rows[w+"; "+system+"; mean error, %"]; r.Median <= 0 {
					t.Errorf("%s, %s: no prediction error", w, system)
				}
			}
		}
		if r, ok := rows[w+"; both; right, weighted, %"]; ok != (len(systems) > 1) || r.Median < 0 || r.Median > 100 {
			t.Errorf("%s: choices %+v", w, r)
		}
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "heddle-bench-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestSample: the digest depends on the number of documents, the first one, and one in the middle.
func TestSample(t *testing.T) {
	docs := make([]uint32, 100)
	for i := range docs {
		docs[i] = uint32(2 * i)
	}
	seen := map[uint64]bool{sample(docs): true, sample(docs[:99]): true, sample(docs[:1]): true, sample(nil): true}
	docs[50]++
	seen[sample(docs)] = true
	docs[0]++
	seen[sample(docs)] = true
	if len(seen) != 6 {
		t.Errorf("%d digests of 6 answers", len(seen))
	}
}

// TestServedWrong: a wrong answer ends the measurement.
func TestServedWrong(t *testing.T) {
	v := &served{name: "gov", queries: make([]workload.Query, 3), right: []uint64{1, 2, 3},
		ask: func(_ context.Context, _ *machine, i int, _ call) (uint64, error) {
			return uint64(i%2 + 1), nil
		}}
	l := load.Loop{Rate: 1e5, Queries: 10, Seed: 1, Misses: 10}
	d, err := l.Run(t.Context(), v.answer(nil, call{}))
	if err != nil || d.Failed != 3 || d.Err == nil || !strings.Contains(d.Err.Error(), "gov: the answer to query 2 is not that of before") {
		t.Errorf("%v, %v, %v", d, err, d.Err)
	}
	if _, _, err := closed(t.Context(), v.answer(nil, call{mode: schedule.Sync}), 4, 10, time.Minute); err == nil || !strings.Contains(err.Error(), "query 2") {
		t.Error(err)
	}
}

// TestClosedSendsAtLeastOne: where the callers of a closed loop start after its time, each still sends
// a query, so that the rate is not 0.
func TestClosedSendsAtLeastOne(t *testing.T) {
	n, rate, err := closed(t.Context(), func(context.Context, int) error { return nil }, 8, 100, 0)
	if n != 8 || rate <= 0 || err != nil {
		t.Errorf("%d queries, %v a second, error %v", n, rate, err)
	}
	if _, err := (load.Loop{Queries: 1}).Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "a load of 0 queries/s") {
		t.Error(err)
	}
}

// TestOneByOne: queries run one at a time, in the order of arrival, and not after the
// deadline.
func TestOneByOne(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		var now atomic.Int64
		var order []int
		l := load.Loop{Rate: 1000, Queries: 200, Seed: 1, Deadline: 20 * time.Millisecond, Misses: 200, Wait: benchtest.SleepUntil}
		d, err := l.Run(t.Context(), oneByOne(func(_ context.Context, i int) error {
			if now.Add(1) > 1 {
				t.Error("two at a time")
			}
			defer now.Add(-1)
			order = append(order, i)
			time.Sleep(2 * time.Millisecond)
			return nil
		}))
		// The rate is twice the capacity: the rest expire while they wait.
		if err != nil || !slices.IsSorted(order) || d.Expired < 50 || len(d.Milliseconds) != len(order) || d.Expired+len(d.Milliseconds) != 200 || d.Milliseconds[len(d.Milliseconds)-1] > 22.001 {
			t.Errorf("%v, %v", d, err)
		}
	})
}
