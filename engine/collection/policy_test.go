package collection

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/file/container"
)

// TestPolicy adds segments of random sizes, and deletes random documents, without files. The number
// of segments and the number of documents that merges write stay within the bounds of the package
// comment. A deletion pays for the documents that merges write without a rise of their level.
func TestPolicy(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var all []size
		added, written, deleted := uint64(0), uint64(0), uint64(0)
		most := rapid.SampledFrom([]uint64{1, 30, 3000, 100000}).Draw(r, "most")
		deletes := rapid.SampledFrom([]uint64{0, 0, 50}).Draw(r, "deletes")
		step := rapid.Custom(func(t *rapid.T) [2]uint64 {
			return [2]uint64{rapid.Uint64Range(1, most).Draw(t, "docs"), rapid.Uint64Range(0, deletes).Draw(t, "share")}
		})
		for _, x := range rapid.SliceOfN(step, 1, 400).Draw(r, "steps") {
			for i := range all {
				n := all[i].live * x[1] / 100
				all[i].live, deleted = all[i].live-n, deleted+n
			}
			all = append(all, size{x[0], x[0]})
			added, written = added+x[0], written+x[0]
			for first := true; ; first = false {
				from, to := choose(all, first)
				if from == to {
					break
				}
				live := uint64(0)
				for _, s := range all[from:to] {
					live += s.live
				}
				written += live
				all = slices.Replace(all, from, to, size{live, live})
				if live == 0 && len(all) > 1 {
					all = slices.Delete(all, from, from+1)
				}
			}
		}
		levels := uint64(level(added) + 1)
		if deletes == 0 && uint64(len(all)) > (fanIn-1)*levels {
			r.Fatalf("%d segments of %d documents: %v", len(all), added, all)
		}
		if bound := added*(levels+2) + fanIn*deleted; written > bound {
			r.Fatalf("%d documents written for %d added and %d deleted; the bound is %d", written, added, deleted, bound)
		}
	})
}

// TestChooseEmpty: a segment without live documents goes beside others, but alone it stays.
func TestChooseEmpty(t *testing.T) {
	for _, c := range []struct {
		all      []size
		from, to int
	}{{nil, 0, 0}, {[]size{{9, 0}}, 0, 0}, {[]size{{9, 4}}, 0, 1}, {[]size{{8, 4}}, 0, 0}, {[]size{{9, 9}, {5, 0}}, 1, 2}, {[]size{{5, 0}, {5, 0}}, 0, 1}} {
		if from, to := choose(c.all, false); from != c.from || to != c.to {
			t.Errorf("%v: segments %d to %d, want %d to %d", c.all, from, to, c.from, c.to)
		}
	}
}

// TestLevel: the level is the logarithm to base 5, rounded down.
func TestLevel(t *testing.T) {
	for docs := uint64(1); docs < 1e15; docs = docs*7/2 + 1 {
		if want := int(math.Floor(math.Log(float64(docs))/math.Log(fanIn) + 1e-12)); level(docs) != want {
			t.Errorf("%d: %d, want %d", docs, level(docs), want)
		}
	}
}

// TestMaintain adds single documents: each is written at most once a level and twice more, and the
// content and its order stay.
func TestMaintain(t *testing.T) {
	dir, w := create(t, options(nil))
	var want []string
	for i := range 120 {
		name := fmt.Sprint("d", i)
		_, err := add(w, []document{{name, "loom"}})
		must(t, err)
		must(t, w.Maintain(t.Context()))
		want = append(want, name)
	}
	if got := content(t, dir); !slices.Equal(got, want) {
		t.Errorf("documents %v", got)
	}
	if n := len(w.Manifest().Segments); n > 8 { // 4 of 25 and 4 of 5
		t.Errorf("%d segments", n)
	}
	if w.written > 120*3 {
		t.Errorf("%d documents written for 120", w.written)
	}
}

// slow is a disk on which a file of a merge waits.
type slow struct {
	container.OSDisk
	next           atomic.Bool // the next file waits
	waits, release chan struct{}
}

func (d *slow) Create(path string) (container.DiskFile, error) {
	if d.next.CompareAndSwap(true, false) {
		close(d.waits)
		<-d.release
	}
	return d.OSDisk.Create(path)
}

// TestMaintainBeside: while a merge takes long, small segments behind it are merged, and no document of either is lost.
func TestMaintainBeside(t *testing.T) {
	dir, w := create(t, options(nil))
	must(t, w.Close())
	d := &slow{waits: make(chan struct{}), release: make(chan struct{})}
	w, err := openOn(d, dir, Options{Creator: "test"})
	must(t, err)
	defer func() { must(t, w.Close()) }()
	var want model
	put := func(i int) {
		docs := []document{{fmt.Sprint("d", i), "loom"}, {"last", "weft"}}
		want = want.add(docs)
		_, err := add(w, docs)
		must(t, err)
	}
	put(0)
	put(1)
	d.next.Store(true)
	merged := make(chan error, 1)
	go func() { merged <- w.Merge(t.Context()) }()
	<-d.waits
	for i := 2; i < 50; i++ {
		put(i)
		must(t, w.Maintain(t.Context()))
	}
	if n := len(w.Manifest().Segments); n > 2+(fanIn-1)*3 {
		t.Errorf("%d segments", n)
	}
	gone := []string{"d1", "d30"}
	want = want.delete(gone)
	_, err = w.Delete(t.Context(), each(gone))
	must(t, err)
	close(d.release)
	must(t, <-merged)
	if got := content(t, dir); !slices.Equal(got, namesOf(want)) {
		t.Errorf("documents %v, want %v", got, namesOf(want))
	}
	must(t, w.Maintain(t.Context()))
	must(t, w.Merge(t.Context()))
	tidy(t, w)
	fresh(t, dir, want)
}
