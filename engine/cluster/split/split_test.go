package split

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/file/container"
	"heddle/engine/index/analyze"
	"heddle/engine/index/bm25"
	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
	"heddle/engine/internal/layout"
	"heddle/engine/plan/testneeds"
)

// fataler is a *testing.T or *rapid.T.
type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// content is an index in memory.
type content struct {
	meta    hdl.Meta
	names   []string
	lengths []uint32
	texts   []string
	terms   []string
	docs    [][]uint32
	freqs   [][]uint32
}

// draw draws an index with lists of every density, and terms without documents.
func draw(t *rapid.T) *content {
	docs := rapid.SampledFrom([]int{0, 1, 2, 40, 300, 5000}).Draw(t, "docs")
	c := &content{meta: hdl.Meta{Docs: uint32(docs), Creator: "test", Format: "text", ExceptionRatio: 0.1}}
	c.meta.Analysis = analyze.Settings{Stemmer: "english", StopWords: []string{"the"}}
	c.meta.Codec = rapid.SampledFrom([]string{"auto", "raw", "parapfor", "pfd", "lrcseg"}).Draw(t, "codec")
	c.meta.Dense = rapid.SampledFrom([]string{"auto", "never"}).Draw(t, "dense")
	c.meta.Lengths = rapid.SampledFrom([]string{hdl.LengthsExact, hdl.LengthsLucene}).Draw(t, "lengths")
	c.meta.Store = rapid.SampledFrom([]string{"", hdl.StoreText, hdl.StoreSource}).Draw(t, "store")
	most := uint32(300)
	if rapid.Bool().Draw(t, "impacts") {
		c.meta.Impacts, most = hdl.Impacts{Bits: 8, Origin: hdl.ImpactsWeights, Scale: 0.25}, 255
	}
	seed := rapid.Uint64().Draw(t, "seed")
	random := func(n uint32) uint32 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return uint32(seed>>33) % n
	}
	for d := range docs {
		length := random(90)
		if c.meta.Lengths == hdl.LengthsLucene {
			length = bm25.RoundLength(length)
		}
		c.names, c.lengths = append(c.names, fmt.Sprint("d", d*7)), append(c.lengths, length)
		if c.meta.Store != "" {
			c.texts = append(c.texts, strings.Repeat(fmt.Sprint("text ", d, " "), int(random(100))))
		}
	}
	for i := range rapid.IntRange(0, 12).Draw(t, "terms") {
		every := uint32(1) << random(14) // the mean distance of docIDs
		var list, freqs []uint32
		for d := range uint32(docs) {
			if every == 1 || random(every) == 0 {
				list, freqs = append(list, d), append(freqs, 1+random(most))
			}
		}
		c.terms, c.docs, c.freqs = append(c.terms, fmt.Sprintf("t%02d", i)), append(c.docs, list), append(c.freqs, freqs)
	}
	return c
}

// write writes the documents from to to-1 as an index of their own.
func (c *content) write(t fataler, path string, from, to uint32) {
	t.Helper()
	meta := c.meta
	meta.Docs = to - from
	w, err := hdl.Create(path, meta)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for d := from; d < to; d++ {
		err = errors.Join(err, w.AddDocument(c.names[d], c.lengths[d]))
		if c.meta.Store != "" {
			err = errors.Join(err, w.AddStored([]byte(c.texts[d])))
		}
	}
	for i, term := range c.terms {
		var docs, freqs []uint32
		for j, d := range c.docs[i] {
			if d >= from && d < to {
				docs, freqs = append(docs, d-from), append(freqs, c.freqs[i][j])
			}
		}
		if len(docs) > 0 || len(c.docs[i]) == 0 && from == 0 && to > 0 {
			err = errors.Join(err, w.AddList(term, docs, freqs))
		}
	}
	if err := errors.Join(err, w.Commit()); err != nil {
		t.Fatal(err)
	}
}

func contents(t fataler, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestIndex cuts random indexes. A shard has the bytes of an index of its documents alone, and the
// manifest has the statistics of the whole.
func TestIndex(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		c := draw(t)
		n++
		whole, parts := filepath.Join(dir, fmt.Sprint(n, ".hdl")), filepath.Join(dir, fmt.Sprint(n))
		c.write(t, whole, 0, c.meta.Docs)
		opt := Options{Shards: rapid.SampledFrom([]int{1, 1, 2, 2, 3, 3, 8}).Draw(t, "shards")}
		if rapid.Bool().Draw(t, "cuts") {
			opt.Cuts = rapid.SliceOfN(rapid.Uint64Range(0, uint64(c.meta.Docs)), 1, 4).Draw(t, "at")
			slices.Sort(opt.Cuts)
		}
		m, err := File(t.Context(), whole, parts, opt)
		if err != nil {
			t.Fatal(err)
		}
		if stored, err := layout.ReadManifest(parts); err != nil || fmt.Sprint(stored) != fmt.Sprint(m) {
			t.Fatalf("manifest %v, %v, want %v", stored, err, m)
		}
		f, err := hdl.Open(whole)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if opt.Cuts == nil && len(m.Shards) != opt.Shards || opt.Cuts != nil && !slices.Equal(m.Cuts(), opt.Cuts) {
			t.Fatalf("cuts %d of options %+v", m.Cuts(), opt)
		}
		if m.Docs != uint64(c.meta.Docs) || m.Length != f.Meta().Length || m.Kind != layout.Index {
			t.Fatalf("statistics %+v, want %+v", m, f.Meta())
		}
		for _, s := range m.Shards {
			want := filepath.Join(dir, "want.hdl")
			c.write(t, want, uint32(s.First), uint32(s.First+s.Docs))
			got := contents(t, filepath.Join(parts, s.File))
			if !bytes.Equal(got, contents(t, want)) {
				t.Fatalf("shard %+v differs from an index of its documents", s)
			}
			if sum, size, err := layout.Checksum(want); sum != s.SHA256 || size != s.Bytes || err != nil {
				t.Fatalf("shard %+v has checksum %s, %d bytes, %v", s, sum, size, err)
			}
		}
		if entries, err := os.ReadDir(parts); err != nil || len(entries) != len(m.Shards)+1 {
			t.Fatalf("%v remain, %v", entries, err)
		}
	})
}

// TestBalance: the weights of shards differ from the mean by less than the greatest document, and
// documents without lengths are cut evenly.
func TestBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Uint32Range(0, 1000), 0, 200).Draw(t, "lengths")
		n := rapid.IntRange(1, 40).Draw(t, "shards")
		cuts, err := balance(uint64(len(all)), n, func(f func(uint32) error) error {
			for _, l := range all {
				if err := f(l); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || len(cuts) != n+1 || cuts[0] != 0 || cuts[n] != uint64(len(all)) || !slices.IsSorted(cuts) {
			t.Fatalf("cuts %d, %v", cuts, err)
		}
		total, most := 0, 0
		for _, l := range all {
			total, most = total+int(l)+docWeight, max(most, int(l)+docWeight)
		}
		for i := range n {
			weight := 0
			for _, l := range all[cuts[i]:cuts[i+1]] {
				weight += int(l) + docWeight
			}
			if d := weight - total/n; d > most+1 || d < -most-1 {
				t.Fatalf("shard %d weighs %d, the mean is %d, a document at most %d: cuts %d", i, weight, total/n, most, cuts)
			}
		}
	})
}

// small writes an index of 100 documents.
func small(t *testing.T) (path string) {
	path = filepath.Join(t.TempDir(), "x.hdl")
	c := &content{meta: hdl.Meta{Docs: 100, ExceptionRatio: 0.1}, terms: []string{"a"}, docs: [][]uint32{nil}, freqs: [][]uint32{nil}}
	for d := range uint32(100) {
		c.names, c.lengths = append(c.names, fmt.Sprint(d)), append(c.lengths, 1)
		c.docs[0], c.freqs[0] = append(c.docs[0], d), append(c.freqs[0], 1)
	}
	c.write(t, path, 0, 100)
	return path
}

// TestFolder: a folder with other files is refused without Force, which keeps them. The shards of
// an earlier split go when the next split succeeds, and stay when it fails.
func TestFolder(t *testing.T) {
	path, dir := small(t), filepath.Join(t.TempDir(), "shards")
	names := func() string {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, e := range entries {
			all = append(all, e.Name()[:min(len(e.Name()), 7)])
		}
		return strings.Join(all, " ")
	}
	split := func(ctx context.Context, opt Options) error {
		_, err := File(ctx, path, dir, opt)
		return err
	}
	canceled, cancel := context.WithCancel(t.Context())
	opt := Options{Shards: 3, Progress: func(uint64, uint64) { cancel() }}
	path2 := path
	for _, p := range []string{path2 + "x", filepath.Dir(path)} {
		path = p
		if err := split(t.Context(), opt); err == nil {
			t.Fatalf("%s was cut", p)
		}
	}
	path = path2
	cancel()
	if err := split(canceled, opt); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Fatalf("a failed split left a folder: %v", err)
	}
	if err := split(t.Context(), Options{Shards: 3}); err != nil || names() != "manifes x-00000 x-00001 x-00002" {
		t.Fatal(err, names())
	}
	before, _ := layout.ReadManifest(dir)
	if err := split(canceled, Options{Shards: 2}); !errors.Is(err, context.Canceled) || names() != "manifes x-00000 x-00001 x-00002" {
		t.Fatal(err, names())
	}
	if m, err := layout.ReadManifest(dir); err != nil || fmt.Sprint(m) != fmt.Sprint(before) {
		t.Fatal("the manifest changed", err)
	}
	for range 2 {
		if err := split(t.Context(), Options{Like: before}); err != nil || names() != "manifes x-00000 x-00001 x-00002" {
			t.Fatal(err, names())
		}
	}
	if err := split(t.Context(), Options{Shards: 1}); err != nil || names() != "manifes x-00000" {
		t.Fatal(err, names())
	}
	for _, name := range []string{"manifest.json", "mine"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := split(t.Context(), Options{Shards: 2}); !errors.Is(err, container.ErrForeign) {
		t.Fatal(err)
	}
	if err := split(t.Context(), Options{Shards: 2, Force: true}); err != nil || !strings.Contains(names(), "mine") {
		t.Fatal(err, names())
	}
	wrong := *before
	wrong.Docs++
	for want, opt := range map[string]Options{
		"0 shards":                  {},
		"65537 shards":              {Shards: layout.MaxShards + 1},
		"document 101":              {Cuts: []uint64{5, 101}},
		"document 4":                {Cuts: []uint64{5, 4}},
		"101 documents or rows":     {Like: &wrong},
		"65536 cuts; at most 65535": {Cuts: make([]uint64, layout.MaxShards)},
	} {
		if err := split(t.Context(), opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestDamage cuts damaged files: each truncation and each changed byte is a corrupt file, and no
// folder remains.
func TestDamage(t *testing.T) {
	path, dir := small(t), filepath.Join(t.TempDir(), "shards")
	good := contents(t, path)
	for i := 0; i < len(good); i += 509 {
		bad := filepath.Join(t.TempDir(), "bad.hdl")
		flipped := slices.Clone(good)
		flipped[i] ^= 4
		for _, data := range [][]byte{good[:i], flipped} {
			if err := os.WriteFile(bad, data, 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := File(t.Context(), bad, dir, Options{Shards: 2}); !errors.Is(err, container.ErrCorrupt) && !errors.Is(err, container.ErrVersion) {
				t.Fatalf("byte %d of %d: %v", i, len(good), err)
			}
			if _, err := os.Stat(dir); !os.IsNotExist(err) {
				t.Fatalf("a failed split left a folder: %v", err)
			}
		}
	}
}

// TestMemory cuts an index of 64 MB. The memory in use stays below an eighth of it.
func TestMemory(t *testing.T) {
	testneeds.Sequential(t)
	const docs, lists = 64_000, 3999
	path := filepath.Join(t.TempDir(), "x.hdl")
	w, err := hdl.Create(path, hdl.Meta{Docs: docs, ExceptionRatio: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	name, random := make([]byte, 1<<10), rand.NewChaCha8([32]byte{})
	for range docs {
		_, _ = random.Read(name) // never fails
		err = errors.Join(err, w.AddDocument(string(name), 1))
	}
	for i := range lists {
		err = errors.Join(err, w.AddList(fmt.Sprintf("%05d", i), []uint32{uint32(i), docs - 1}[:1+i%2], []uint32{1, 1}[:1+i%2]))
	}
	if err := errors.Join(err, w.Commit()); err != nil {
		t.Fatal(err)
	}
	live := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, peak, calls := live(), uint64(0), 0
	m, err := File(t.Context(), path, filepath.Join(t.TempDir(), "shards"), Options{Shards: 2, Progress: func(uint64, uint64) {
		if calls++; calls%400 == 1 {
			peak = max(peak, live()-before)
		}
	}})
	if err != nil || m.Shards[0].Bytes+m.Shards[1].Bytes < 60e6 {
		t.Fatal(m, err)
	}
	if peak > 8<<20+1<<19 {
		t.Errorf("%d bytes in use, for a file of %d bytes", peak, m.Shards[0].Bytes+m.Shards[1].Bytes)
	}
	t.Logf("%d bytes in use", peak)
}

// TestFields cuts an index with fields and positions, one of which a range of documents lacks. A shard has the bytes of an index of its
// documents alone.
func TestFields(t *testing.T) {
	var lines []string
	for i := range 200 {
		line := fmt.Sprintf("d%d\tloom w%d", i, i%7)
		if i >= 100 {
			line += fmt.Sprintf("\tweft w%d loom", i%5)
		}
		lines = append(lines, line)
	}
	dir := t.TempDir()
	write := func(name string, lines []string) string {
		path := filepath.Join(dir, name)
		opt := build.Options{Format: build.Text, Fields: []string{"title", "body"}, Positions: true, Store: hdl.StoreText, Stdin: strings.NewReader(strings.Join(lines, "\n"))}
		if _, err := build.Build(t.Context(), path, []string{"-"}, opt); err != nil {
			t.Fatal(err)
		}
		return path
	}
	m, err := File(t.Context(), write("x.hdl", lines), filepath.Join(dir, "x"), Options{Cuts: []uint64{40, 100, 101}})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range m.Shards {
		want := contents(t, write("want.hdl", lines[s.First:s.First+s.Docs]))
		if got := contents(t, filepath.Join(dir, "x", s.File)); !bytes.Equal(got, want) {
			t.Errorf("shard %+v differs from an index of its documents", s)
		}
	}
}
