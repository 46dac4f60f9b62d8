package load

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var (
	good = &Level{Rate: 100, Throughput: 99.9, Queries: 200, Answered: 200, Held: true, Stable: true,
		Latency: Times{1, 2, 3, 4, 5}, Server: Times{0.5, 1, 1.5, 2, 2.5}, Queued: Times{0, 0, 0.1, 0.2, 0.3}, Late: 0.02}
	bad = &Level{Rate: 1600, Throughput: 1234, Queries: 3200, Answered: 3100, Latency: Times{100, 200, 300, 400, 500}, Errors: map[string]int{"deadline": 40, "overloaded": 60}}
)

func TestTable(t *testing.T) {
	var b strings.Builder
	table := NewTable(&b)
	own := *bad
	own.Limited, own.Errors, own.Late = true, map[string]int{"client_late": 100}, 40
	for _, l := range []*Level{good, bad, &own} {
		if err := table.Add(l); err != nil {
			t.Fatal(err)
		}
	}
	want := `            queries/s                          latency, ms         server, ms         queued, ms
      sent   answered       p50      p99    p99.9      max       p50      p99       p50      p99  late, ms  verdict
       100       99.9      1.00     3.00     4.00     5.00     0.500     1.50         0    0.100    0.0200  holds
      1600       1234       100      300      400      500         0        0         0        0         0  does not hold, 60 overloaded, 40 deadline
      1600       1234       100      300      400      500         0        0         0        0      40.0  unknown: load was late, 100 client_late
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestPlot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "load.svg")
	if err := Plot(path, "books, search", []*Level{bad, good}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "</svg>") || !strings.Contains(string(text), "p99.9") || !strings.Contains(string(text), "queries per second") {
		t.Errorf("%v, %d bytes", err, len(text))
	}
	if err := Plot(filepath.Join(path, "load.svg"), "", []*Level{good}); err == nil {
		t.Error("a file as a folder: no error")
	}
}
