package gather

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// TestStream appends pieces of drawn sizes to several streams in turn.
func TestStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a arena
		for range 2 { // the second time in used memory
			a.reset()
			streams := make([]stream, 3)
			want := make([][]byte, len(streams))
			for i, n := range rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 3, 4, 5, 11, 12, 13, 100, 4091, 4092, 4093, 20000}), 0, 40).Draw(t, "sizes") {
				b := bytes.Repeat([]byte{byte(i + 1)}, n)
				s := i % len(streams)
				a.append(&streams[s], b)
				want[s] = append(want[s], b...)
			}
			for s := range streams {
				if got := a.read([]byte("x"), &streams[s]); string(got) != "x"+string(want[s]) || int(streams[s].length) != len(want[s]) {
					t.Fatalf("stream %d has %d bytes, want %d", s, len(got)-1, len(want[s]))
				}
			}
		}
	})
}

func TestArenaCountsItsMemory(t *testing.T) {
	var p Postings
	if p.Memory() != 0 {
		t.Errorf("empty: %d bytes", p.Memory())
	}
	if s, l := unsafe.Sizeof(entry[Growing]{}), unsafe.Sizeof(entry[joined]{}); s != growingSize || l != joinedSize {
		t.Errorf("entries have %d and %d bytes", s, l)
	}
	for i := range 100000 {
		term := fmt.Append(nil, "term", i)
		p.Put(p.Value(p.Find(term)), 7, 2)
	}
	real := uint64(len(p.arena.blocks)*blockSize + len(p.pages)*pageSize*growingSize + len(p.Slots)*4)
	if got := p.Memory(); got < real || got > real+100000*sortSize {
		t.Errorf("%d bytes counted, %d in use", got, real)
	}
	p.Reset()
	if p.Memory() > real/4 {
		t.Errorf("%d bytes after reset", p.Memory())
	}
	if p.Full() {
		t.Error("full after reset")
	}
}

var corners = []uint32{0, 1, 2, 127, 128, 1 << 14, 1<<31 - 1, 1 << 31, math.MaxUint32 - 2, math.MaxUint32 - 1}

func drawList(t *rapid.T) []mention {
	gen := rapid.OneOf(rapid.SampledFrom(corners), rapid.Uint32Range(0, 3000))
	docs := rapid.SliceOfNDistinct(gen, 0, 50, rapid.ID).Draw(t, "docs")
	slices.Sort(docs)
	freq := rapid.OneOf(rapid.Uint32Range(1, 4), rapid.SampledFrom([]uint32{127, 128, 129, math.MaxUint32}))
	l := make([]mention, len(docs))
	for i, d := range docs {
		l[i] = mention{d, freq.Draw(t, "freq")}
	}
	return l
}

// TestPostingsAndRuns puts drawn lists into memory and, through a temporary
// file, merges them back out of several runs.
func TestPostingsAndRuns(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		file, err := NewTemp(dir, "run-*")
		if err != nil {
			r.Fatal(err)
		}
		defer file.Close()
		term := rapid.SliceOfN(rapid.SampledFrom([]byte("ab\x00\xff")), 0, 10)
		want := map[string][]mention{}
		var p Postings
		var runs []Run
		lists := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) map[string][]mention {
			return map[string][]mention{string(term.Draw(t, "term")): drawList(t)}
		}), 0, 12).Draw(r, "lists")
		for _, m := range lists {
			for term, l := range m {
				id := p.Find([]byte(term))
				if again := p.Find([]byte(term)); again != id {
					r.Fatalf("term %q has entries %d and %d", term, id, again)
				}
				if _, found := want[term]; !found {
					want[term] = []mention{}
				}
				for _, x := range l {
					if n := len(want[term]); n > 0 && x.doc <= want[term][n-1].doc {
						continue
					}
					want[term] = append(want[term], x)
					p.Put(p.Value(id), x.doc, x.freq)
				}
			}
			if rapid.Bool().Draw(r, "spill") {
				run, err := Spill(file, p.Cursor())
				if err != nil {
					r.Fatal(err)
				}
				runs = append(runs, run)
				p.Reset()
			}
		}
		if err := file.Flush(); err != nil {
			r.Fatal(err)
		}
		var cs []Cursor
		for _, x := range runs {
			cs = append(cs, NewCursor(file, x, 16))
		}
		cs = append(cs, p.Cursor())
		var order []string
		err = Merge(context.Background(), cs, 2, false, func(m *Merged) error {
			order = append(order, m.Term)
			l := []mention{}
			for i := range m.Docs {
				l = append(l, mention{m.Docs[i], m.Freqs[i]})
			}
			if !slices.Equal(l, want[m.Term]) {
				return fmt.Errorf("list %q is %v, want %v", m.Term, l, want[m.Term])
			}
			return nil
		})
		if err != nil {
			r.Fatal(err)
		}
		if all := slices.Sorted(maps.Keys(want)); !slices.Equal(order, all) {
			r.Fatalf("terms %q, want %q", order, all)
		}
	})
}

// TestDamagedRuns cuts a run at every byte. The result is an error, except between two
// lists: a run does not store their number, because the builder wrote it itself.
func TestDamagedRuns(t *testing.T) {
	file, err := NewTemp(t.TempDir(), "run-*")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var p Postings
	ends := map[int64]bool{0: true}
	for _, term := range []string{"a", "bb", "ccc"} {
		p.Reset()
		p.Put(p.Value(p.Find([]byte(term))), 1000, 300)
		r, err := Spill(file, p.Cursor())
		if err != nil {
			t.Fatal(err)
		}
		ends[r.offset+r.length] = true
	}
	if err := file.Flush(); err != nil {
		t.Fatal(err)
	}
	for n := range file.size + 1 {
		err := Merge(context.Background(), []Cursor{NewCursor(file, Run{length: n}, 16)}, 2, false, func(*Merged) error { return nil })
		if ends[n] != (err == nil) || err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestMergeStops(t *testing.T) {
	var p Postings
	for i := range 1000 {
		term := fmt.Append(nil, i)
		p.Put(p.Value(p.Find(term)), 0, 1)
	}
	stop := errors.New("stop")
	calls := 0
	err := Merge(context.Background(), []Cursor{p.Cursor()}, 2, false, func(*Merged) error {
		if calls++; calls == 3 {
			return stop
		}
		return nil
	})
	if err != stop || calls != 3 {
		t.Errorf("error %v after %d calls", err, calls)
	}
	ctx, cancel := context.WithCancel(context.Background())
	calls = 0
	err = Merge(ctx, []Cursor{p.Cursor()}, 2, false, func(*Merged) error {
		calls++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || calls > 4 {
		t.Errorf("error %v after %d calls", err, calls)
	}
}

// TestTempIsNameless checks that a temporary file is gone after close, and on
// Unix before.
func TestTempIsNameless(t *testing.T) {
	dir := t.TempDir()
	f, err := NewTemp(dir, "t-*")
	if err != nil {
		t.Fatal(err)
	}
	if files, _ := os.ReadDir(dir); os.PathSeparator == '/' && len(files) > 0 {
		t.Errorf("open: %v", files)
	}
	if err := f.Append([]byte("abc")); err != nil || f.size != 3 {
		t.Errorf("write: %v, size %d", err, f.size)
	}
	err = f.Close()
	if files, _ := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("closed: %v, %v", err, files)
	}
	if err := f.Close(); err == nil {
		t.Error("a second close went well")
	}
}

// TestDecodeDamaged: numbers that end nowhere end the decoding.
func TestDecodeDamaged(t *testing.T) {
	l := List{data: bytes.Repeat([]byte{0xff}, 11)}
	var b batch
	if l.decode(&b, false); len(b.docs) != len(b.freqs) || len(b.docs) > len(l.data) {
		t.Errorf("%d docIDs, %d frequencies", len(b.docs), len(b.freqs))
	}
}
