package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/config"
	"heddle/engine/plan"
	"heddle/engine/table/column"
	"heddle/hostfallback"
)

// TestInvalidSelections has values that are no outputs and strategies, and a predicate of
// another table.
func TestInvalidSelections(t *testing.T) {
	e := tableEngine(t, backendOptions(t))
	x, y := memoryTable(t, e, 32), memoryTable(t, e, 64)
	foreign, err := y.Prepare(t.Context(), Selection{Where: "TRUE"})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		s    Selection
		want Code
	}{
		"strategy":           {Selection{Where: "TRUE", Strategy: 200}, InvalidOption},
		"explained strategy": {Selection{Where: "TRUE", Strategy: 200, Explain: new(TableExplanation)}, InvalidOption},
		"output":             {Selection{Where: "TRUE", Output: 99}, InvalidOption},
		"foreign predicate":  {Selection{Prepared: foreign}, InvalidQuery},
	} {
		if _, err := x.Select(t.Context(), test.s); CodeOf(err) != test.want {
			t.Errorf("%s: %v: %v", name, CodeOf(err), err)
		}
		if err := x.SelectAll(t.Context(), []Selection{{Where: "TRUE"}, test.s}, func(int, []Rows) error { return nil }); CodeOf(err) != test.want {
			t.Errorf("%s in a call with others: %v: %v", name, CodeOf(err), err)
		}
	}
}

// TestInvalidQueries has values that are no algorithms, accumulators and matches.
func TestInvalidQueries(t *testing.T) {
	x := openFile(t, backendOptions(t))
	for name, q := range map[string]Query{
		"algorithm":    {Terms: []string{"t000"}, Match: And, Override: &Override{Algorithm: 200}},
		"accumulators": {Terms: []string{"t000"}, K: 3, Override: &Override{Accumulators: 200}},
		"match":        {Terms: []string{"t000"}, Match: 200},
		"ranked match": {Terms: []string{"t000"}, Match: 200, K: 3},
	} {
		if _, err := x.Search(t.Context(), q); CodeOf(err) != InvalidOption {
			t.Errorf("%s: %v: %v", name, CodeOf(err), err)
		}
		if err := x.SearchAll(t.Context(), []Query{{Terms: []string{"t000"}}, q}, func(int, []Hits) error { return nil }); CodeOf(err) != InvalidOption {
			t.Errorf("%s in a call with others: %v: %v", name, CodeOf(err), err)
		}
	}
}

// TestInvalidData has lists and tables in memory that are missing or do not agree.
func TestInvalidData(t *testing.T) {
	e := tableEngine(t, backendOptions(t))
	src, dict := inMemory(t)
	tab, columns := inTable(t, 32)
	outside := *src
	outside.Lists = slices.Clone(src.Lists)
	outside.Lists[0].Off = 1 << 40
	for name, f := range map[string]func() error{
		"no source":     func() error { _, err := e.NewIndex(t.Context(), nil, dict, IndexOptions{}); return err },
		"no dictionary": func() error { _, err := e.NewIndex(t.Context(), src, nil, IndexOptions{}); return err },
		"list outside":  func() error { _, err := e.NewIndex(t.Context(), &outside, dict, IndexOptions{}); return err },
		"no table":      func() error { _, err := e.NewTable(t.Context(), nil, columns, TableOptions{}); return err },
		"column missing": func() error {
			_, err := e.NewTable(t.Context(), &tab.Table, columns[1:], TableOptions{})
			return err
		},
		"vector missing": func() error {
			wrong := slices.Clone(columns)
			wrong[0] = column.Column{Name: "a", Vector: 1 << 30, Bins: columns[0].Bins}
			_, err := e.NewTable(t.Context(), &tab.Table, wrong, TableOptions{})
			return err
		},
	} {
		if err := f(); CodeOf(err) != InvalidOption {
			t.Errorf("%s: %v: %v", name, CodeOf(err), err)
		}
	}
}

// TestInvalidOptions has options that New and Validate refuse.
func TestInvalidOptions(t *testing.T) {
	for name, opt := range map[string]Options{
		"algorithm": {Backend: "host", Algorithm: 200},
		"backend":   {Backends: []plan.Backend{nil}},
	} {
		if _, err := New(t.Context(), opt); CodeOf(err) != InvalidOption {
			t.Errorf("%s: %v: %v", name, CodeOf(err), err)
		}
		opt.EnsureDefaults()
		if err := opt.Validate(); CodeOf(err) != InvalidOption {
			t.Errorf("%s: %v: %v", name, CodeOf(err), err)
		}
	}
}

// TestUnusedOptions has options that the chosen processors do not use.
func TestUnusedOptions(t *testing.T) {
	given := []plan.Backend{hostfallback.New(hostfallback.Options{Threads: 1})}
	for option, all := range map[string][]Options{
		"Device":       {{Backend: "host", Device: "H200"}, {Backends: given, Device: "H200"}},
		"DeviceMemory": {{Backend: "host", DeviceMemory: 1 << 30}, {Backends: given, DeviceMemory: 1 << 30}},
		"Profiling":    {{Backend: "host", Profiling: true}, {Backends: given, Profiling: true}},
		"CountLoads":   {{Backend: "host", CountLoads: true}, {Backends: given, CountLoads: true}},
		"Tuning":       {{Backends: given, Tuning: "rows.toml"}},
		"Threads":      {{Backend: "opencl", Threads: 1}, {Backends: given, Threads: 1}},
		"HostMemory":   {{Backend: "opencl", HostMemory: 1 << 30}, {Backends: given, HostMemory: 1 << 30}},
	} {
		for _, opt := range all {
			if _, err := New(t.Context(), opt); CodeOf(err) != InvalidOption || !strings.Contains(err.Error(), "option "+option+" has no effect") {
				t.Errorf("%s with backend %q: %v", option, opt.Backend, err)
			}
		}
	}
	if err := given[0].Close(); err != nil {
		t.Error(err)
	}
}

// TestUnusedSettings takes one configuration for every backend.
func TestUnusedSettings(t *testing.T) {
	c := config.Default()
	c.Devices.Device, c.Devices.Profiling, c.Memory.Device, c.Schedule.Hang = "H200", true, 1<<30, time.Second
	for _, name := range []string{"host", "opencl", "all", "auto"} {
		c.Devices.Backend = name
		o, err := OptionsOf(c)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		host := name == "host"
		if (o.Device == "") != host || (o.DeviceMemory == 0) != host || o.Profiling == host || o.Schedule.Hang != time.Second {
			t.Errorf("%s: %+v", name, o)
		}
	}
}
