package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/codec"
	"heddle/engine/index/hdl"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// randomIndex is an index of 48 terms, in memory, and its documents by term.
func randomIndex(t *testing.T, seed uint64) (*plan.Source, Dictionary, map[string][]uint32) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	src := &plan.Source{Docs: 20_000}
	all := map[string][]uint32{}
	var names []string
	for i := range 48 {
		var docs []uint32
		for d := range src.Docs {
			if r.IntN(2+i%5) == 0 {
				docs = append(docs, d)
			}
		}
		if _, err := src.Append(codec.Raw, docs, codec.DefaultOptions()); err != nil {
			t.Fatal(err)
		}
		names = append(names, fmt.Sprintf("t%02d", i))
		all[names[i]] = docs
	}
	dict, err := hdl.NewDictionary(names)
	if err != nil {
		t.Fatal(err)
	}
	return src, dict, all
}

// checkIndex asks for conjunctions of two terms.
func checkIndex(t *testing.T, name string, x *Index, docs map[string][]uint32) {
	t.Helper()
	for i := range 24 {
		a, b := fmt.Sprintf("t%02d", i), fmt.Sprintf("t%02d", 47-i)
		var want []uint32
		for _, d := range docs[a] {
			if _, ok := slices.BinarySearch(docs[b], d); ok {
				want = append(want, d)
			}
		}
		hits, err := x.Search(t.Context(), Query{Terms: []string{a, b}, Match: And})
		if err != nil || !slices.Equal(hits.Docs, want) {
			t.Errorf("%s: %s AND %s: %d documents, want %d: %v", name, a, b, len(hits.Docs), len(want), err)
		}
	}
}

// opened are two indexes and two tables of one engine.
type opened struct {
	indexes [2]*Index
	tables  [2]*Table
	docs    [2]map[string][]uint32
	refused []error // typed
}

// openAll opens an index, a table, and the same once more, as far as there is memory.
func openAll(t *testing.T, e *Engine) (o opened) {
	t.Helper()
	for i := range 2 {
		src, dict, docs := randomIndex(t, uint64(i))
		o.docs[i] = docs
		x, err := e.NewIndex(t.Context(), src, dict, IndexOptions{})
		o.note(t, err)
		tab, columns := inTable(t, 32)
		y, err := e.NewTable(t.Context(), &tab.Table, columns, TableOptions{})
		o.note(t, err)
		o.indexes[i], o.tables[i] = x, y
	}
	return o
}

func (o *opened) note(t *testing.T, err error) {
	t.Helper()
	switch {
	case err == nil:
	case CodeOf(err) == OutOfMemory:
		o.refused = append(o.refused, err)
	default:
		t.Errorf("no typed error: %v", err)
	}
}

// check asks all that is open.
func (o *opened) check(t *testing.T) {
	t.Helper()
	for i := range 2 {
		if o.indexes[i] != nil {
			checkIndex(t, fmt.Sprint("index ", i), o.indexes[i], o.docs[i])
		}
		if o.tables[i] != nil {
			checkAll(t, o.tables[i], Selection{})
		}
	}
}

// TestDeviceMemory opens two indexes and two tables on a device with memory for some of
// them. All share one budget, which is never exceeded; the others live in pure Go, or are
// refused with a typed error where there is none.
func TestDeviceMemory(t *testing.T) {
	testneeds.Sequential(t)
	testneeds.Host(t)
	probe := newTableDevice(t, "probe")
	o := openAll(t, tableEngine(t, devicesOnly(probe)))
	o.check(t)
	all := probe.highest
	if len(o.refused) > 0 || all == 0 {
		t.Fatalf("%d bytes, %v", all, o.refused)
	}
	for _, part := range []uint64{90, 60, 30, 1} {
		for _, reserve := range []bool{true, false} {
			d := newTableDevice(t, "device")
			d.room = all * part / 100
			opt := devicesOnly(d)
			if reserve {
				opt = beside(t, d)
			}
			e := tableEngine(t, opt)
			o := openAll(t, e)
			if d.highest > d.room || reserve != (len(o.refused) == 0) {
				t.Errorf("%d bytes of %d are in use, refused: %v", d.highest, d.room, o.refused)
			}
			o.check(t)
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestOpenCLMemory is TestDeviceMemory on an OpenCL device, whose budget counts lists,
// tables, caches and scratch.
func TestOpenCLMemory(t *testing.T) {
	opt := Options{Backend: "opencl", Device: testneeds.Device(t)}
	e := tableEngine(t, opt)
	o := openAll(t, e)
	o.check(t)
	most := e.Stats().Processors[0].Memory
	if len(o.refused) > 0 || most == 0 {
		t.Fatalf("%d bytes, %v", most, o.refused)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []struct {
		backend string
		bytes   uint64
	}{{"auto", most / 2}, {"opencl", most / 2}, {"auto", 4 << 20}} {
		opt.Backend, opt.DeviceMemory = limit.backend, limit.bytes
		e := tableEngine(t, opt)
		o := openAll(t, e)
		o.check(t)
		for _, p := range e.Stats().Processors {
			if p.Memory > limit.bytes && !hostProcessor(e, p.Name) {
				t.Errorf("%s, %d bytes: %s uses %d", limit.backend, limit.bytes, p.Name, p.Memory)
			}
		}
		if limit.backend == "auto" && len(o.refused) > 0 {
			t.Errorf("refused beside pure Go: %v", o.refused)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

func hostProcessor(e *Engine, name string) bool {
	for _, p := range e.Processors() {
		if p.Name == name {
			return p.Info.Kind == "host"
		}
	}
	return false
}
