package startup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heddle/engine/internal/cost"
)

func TestChoose(t *testing.T) {
	const ms = time.Millisecond
	h200 := Record{Device: "NVIDIA H200", Driver: "570", Opens: 3, Open: 750 * ms}
	for _, test := range []struct {
		name   string
		work   Work
		record Record
		host   bool
		reason string
	}{
		{"one query", Work{Queries: 1, Host: 10 * ms, Device: ms}, h200, true,
			"the host should finish first: 1 query should take 10ms in pure Go, and 751ms on NVIDIA H200 (start-up 750ms, measured before; transfer 0s; queries 1ms)"},
		{"one slow query", Work{Queries: 1, Host: 2 * time.Second, Device: ms}, h200, false, "a device should finish first: 1 query should take 2s in pure Go"},
		{"many queries", Work{Queries: 100_000, Host: 3 * time.Second, Device: 60 * ms}, h200, false, "100000 queries should take 3s in pure Go, and 810ms on NVIDIA H200"},
		{"a large index", Work{Queries: 1000, Host: 3 * time.Second, Device: 60 * ms, Bytes: 40e9}, h200, true, "transfer 4s"},
		{"equal", Work{Queries: 1, Host: 750 * ms}, h200, true, ""},
		{"no record, quick", Work{Queries: 1, Host: 799 * ms}, Record{}, true, "on an OpenCL device (start-up 800ms, not measured yet"},
		{"no record, slow", Work{Queries: 1, Host: 801 * ms}, Record{}, false, ""},
		{"a stream", Work{}, h200, false, "queries arrive in a stream of unknown length"},
		{"a quick device", Work{Queries: 1, Host: 10 * ms}, Record{Device: "x", Opens: 1, Open: 2 * ms}, false, ""},
		{"kernels were compiled", Work{Queries: 1, Host: 2 * time.Second}, Record{Device: "x", Opens: 1, Open: time.Minute}, false, "start-up 800ms"},
		{"a slow device", Work{Queries: 1, Host: 2 * time.Second}, Record{Device: "x", Opens: 2, Open: time.Minute}, true, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Choose(test.work, test.record)
			if c.Host != test.host || !strings.Contains(c.String(), test.reason) {
				t.Errorf("host %v: %s; want %v: %s", c.Host, c, test.host, test.reason)
			}
		})
	}
}

func TestThreshold(t *testing.T) {
	for _, test := range []struct {
		record Record
		want   string
	}{
		{Record{}, "within 800ms, the start-up time (not measured yet), runs"},
		{Record{Device: "x", Opens: 2, Open: 612_345 * time.Microsecond}, "within 612ms, the start-up time (measured before), runs"},
	} {
		if got := Threshold(test.record); !strings.Contains(got, test.want) {
			t.Errorf("%+v: %s", test.record, got)
		}
	}
}

func TestQueries(t *testing.T) {
	book := cost.NewBook(1, cost.Best)
	f := cost.Features{Terms: 2, Shortest: 1000, Second: 20_000, Sum: 21_000}
	one := Queries(book, cost.And, "x", []cost.Features{f}, 1, 1<<20)
	if one.Queries != 1 || one.Bytes != 1<<20 || one.Host <= 0 || one.Host > time.Millisecond || one.Device <= 0 {
		t.Errorf("%+v", one)
	}
	many := Queries(book, cost.And, "x", []cost.Features{f, f}, 5e5, 1<<20)
	if many.Queries != 1_000_000 || many.Host < 1000*one.Host || many.Device >= many.Host {
		t.Errorf("%+v, one query takes %v", many, one.Host)
	}
	s := Selections([]cost.Features{{Selection: cost.Selection{Selections: 1, Vectors: 60, Bytes: 2e6}}}, 1, 0)
	if s.Queries != 1 || s.Host < 100*time.Microsecond || s.Host > 10*time.Millisecond || s.Device >= s.Host {
		t.Errorf("%+v", s)
	}
}

func TestCache(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "startup.json")
	c := NewCache(path)
	if r := c.Recall(); r != (Record{}) {
		t.Errorf("an empty cache has %+v", r)
	}
	remember := func(device, driver string, took time.Duration, want Record) {
		t.Helper()
		if err := c.Remember(device, driver, took); err != nil {
			t.Fatal(err)
		}
		if r := NewCache(path).Recall(); r != want {
			t.Errorf("recalls %+v, want %+v", r, want)
		}
	}
	remember("a", "1", 9*time.Second, Record{"a", "1", 1, 9 * time.Second})
	remember("a", "1", 2*time.Second, Record{"a", "1", 2, 2 * time.Second})
	remember("a", "1", 3*time.Second, Record{"a", "1", 3, 2 * time.Second})
	remember("b", "1", time.Second, Record{"b", "1", 1, time.Second}) // counts as Default
	remember("b", "2", 5*time.Second, Record{"b", "2", 1, 5 * time.Second})
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(left) != 1 {
		t.Errorf("files %v, %v", left, err)
	}
	for _, damaged := range []string{"{", "null", `[{"device":"a"}]`, `[{"device":"a","opens":-1,"open_ns":5}]`, `{"device":1}`} {
		if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := c.Recall(); r != (Record{}) {
			t.Errorf("%s gives %+v", damaged, r)
		}
	}
	if err := c.Remember("a", "1", time.Second); err != nil || c.Recall().Device != "a" {
		t.Errorf("a damaged file stays: %v", err)
	}
	if err := (Cache{}).Remember("a", "1", time.Second); err != nil {
		t.Error(err)
	}
}
