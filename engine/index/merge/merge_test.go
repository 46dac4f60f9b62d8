package merge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"pgregory.net/rapid"

	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
)

// document draws a line of text: a name and a few words, of which some are frequent, in two columns.
func document() *rapid.Generator[string] {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "loom", "thread", "weft", "warp", "ß", "x1", "x2", "x3"}), 0, 9)
	return rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf("n%d\t%s\t%s", rapid.IntRange(0, 99).Draw(t, "name"), strings.Join(words.Draw(t, "words"), " "), strings.Join(words.Draw(t, "more words"), " "))
	})
}

// write builds an index of lines.
func write(t testing.TB, path string, lines []string, opt build.Options) {
	t.Helper()
	opt.Format, opt.Stdin = build.Text, strings.NewReader(strings.Join(lines, "\n"))
	if _, err := build.Build(context.Background(), path, []string{"-"}, opt); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, path string) *hdl.File {
	t.Helper()
	f, err := hdl.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestFresh: indexes of random documents, merged without random documents, equal the index of the
// remaining documents byte for byte.
func TestFresh(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "case")
		if err != nil {
			t.Fatal(err)
		}
		opt := build.DefaultOptions()
		opt.Codec = rapid.SampledFrom([]string{"auto", "raw", "parapfor", "lrcseg"}).Draw(r, "codec")
		opt.Dense = rapid.SampledFrom([]string{"auto", "never"}).Draw(r, "dense")
		opt.Lengths = rapid.SampledFrom([]string{hdl.LengthsExact, hdl.LengthsLucene}).Draw(r, "lengths")
		opt.Store = rapid.SampledFrom([]string{hdl.StoreNone, hdl.StoreText}).Draw(r, "store")
		opt.Stem = rapid.SampledFrom([]string{"none", "english"}).Draw(r, "stem")
		opt.Positions = rapid.Bool().Draw(r, "positions")
		opt.Fields = rapid.SampledFrom([][]string{nil, {"title", "body"}}).Draw(r, "fields")
		var parts []Part
		var live []string
		for i := range rapid.IntRange(1, 5).Draw(r, "parts") {
			lines := rapid.SliceOfN(document(), 1, 40).Draw(r, "documents")
			path := filepath.Join(dir, fmt.Sprint(i, ".hdl"))
			write(t, path, lines, opt)
			deleted := roaring.New()
			for d, line := range lines {
				if rapid.IntRange(0, 3).Draw(r, "deleted") == 0 {
					deleted.Add(uint32(d))
				} else {
					live = append(live, line)
				}
			}
			parts = append(parts, Whole(open(t, path), deleted))
		}
		if len(live) == 0 {
			return
		}
		got, want := filepath.Join(dir, "merged.hdl"), filepath.Join(dir, "fresh.hdl")
		if err := File(t.Context(), parts, func(m hdl.Meta) (*hdl.Writer, error) { return hdl.Create(got, m) }); err != nil {
			r.Fatal(err)
		}
		write(t, want, live, opt)
		same(r, got, want)
	})
}

// TestRanges: the two ranges of an index, cut anywhere, have its documents without the deleted ones.
func TestRanges(t *testing.T) {
	lines := []string{"a\tred loom", "b\tloom", "c\tred red", "d\tblue", "e\tloom blue", "f\t", "g\tred"}
	dir, opt := t.TempDir(), build.DefaultOptions()
	opt.Store = hdl.StoreText
	path := filepath.Join(dir, "a.hdl")
	write(t, path, lines, opt)
	f := open(t, path)
	for _, deleted := range []*roaring.Bitmap{nil, roaring.BitmapOf(3), roaring.BitmapOf(0, 4, 6)} {
		var live [2][]string
		for _, cut := range []uint32{0, 3, 4} {
			live = [2][]string{}
			for d, line := range lines {
				if deleted == nil || !deleted.Contains(uint32(d)) {
					half := 0
					if uint32(d) >= cut {
						half = 1
					}
					live[half] = append(live[half], line)
				}
			}
			parts := []Part{{f, 0, cut, deleted}, {f, cut, uint32(len(lines)), deleted}}
			for i, want := range [][]string{live[0], live[1], append(live[0], live[1]...)} {
				of := parts
				if i < 2 {
					of = parts[i : i+1]
				}
				if i == 0 && cut != 3 || len(want) == 0 {
					continue
				}
				got, fresh := filepath.Join(dir, "got.hdl"), filepath.Join(dir, "fresh.hdl")
				if err := File(t.Context(), of, func(m hdl.Meta) (*hdl.Writer, error) { return hdl.Create(got, m) }); err != nil {
					t.Fatalf("cut at %d, half %d: %v", cut, i, err)
				}
				write(t, fresh, want, opt)
				same(t, got, fresh)
			}
		}
	}
}

// TestEmptyLists: the range with the first document keeps a list that was empty before, and no other range has it.
func TestEmptyLists(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.hdl")
	w, err := hdl.Create(path, hdl.Meta{Docs: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		err = errors.Join(err, w.AddDocument(name, 1))
	}
	if err := errors.Join(err, w.AddList("none", nil, nil), w.AddList("red", []uint32{0, 1}, []uint32{1, 1}), w.Commit()); err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	for first, want := range []int{2, 1} {
		got := filepath.Join(dir, fmt.Sprint("got", first, ".hdl"))
		part := Part{f, uint32(first), uint32(first) + 1, nil}
		if err := File(t.Context(), []Part{part}, func(m hdl.Meta) (*hdl.Writer, error) { return hdl.Create(got, m) }); err != nil {
			t.Fatal(err)
		}
		if n := open(t, got).Terms(); int(n) != want {
			t.Errorf("document %d alone: %d lists, want %d", first, n, want)
		}
	}
}

func same(t interface{ Fatal(...any) }, got, want string) {
	a, err1 := os.ReadFile(got)
	b, err2 := os.ReadFile(want)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Fatal("the merged index differs from a fresh one")
	}
}

// TestDiffer: indexes with different settings have no common index.
func TestDiffer(t *testing.T) {
	dir := t.TempDir()
	lines := []string{"a\tred loom", "b\tblue loom"}
	paths := []string{filepath.Join(dir, "a.hdl"), filepath.Join(dir, "b.hdl")}
	for setting, change := range map[string]func(*build.Options){
		"analysis":             func(o *build.Options) { o.Stem = "english" },
		"codec":                func(o *build.Options) { o.Codec = "raw" },
		"dense":                func(o *build.Options) { o.Dense = "never" },
		"exception ratio":      func(o *build.Options) { o.ExceptionRatio = 0.2 },
		"stored documents":     func(o *build.Options) { o.Store = hdl.StoreText },
		"precision of lengths": func(o *build.Options) { o.Lengths = hdl.LengthsLucene },
		"impacts":              func(o *build.Options) { o.Impacts = 8 },
	} {
		opt := build.DefaultOptions()
		write(t, paths[0], lines, opt)
		change(&opt)
		write(t, paths[1], lines, opt)
		parts := []Part{Whole(open(t, paths[0]), nil), Whole(open(t, paths[1]), nil)}
		if _, err := Meta(parts); err == nil || !strings.Contains(err.Error(), "the "+setting+" differ") {
			t.Errorf("%s: error %v", setting, err)
		}
	}
}

// TestCanceled: the end of the context ends a merge, and leaves nothing.
func TestCanceled(t *testing.T) {
	dir := t.TempDir()
	path, out := filepath.Join(dir, "a.hdl"), filepath.Join(dir, "out.hdl")
	write(t, path, []string{"a\tred loom"}, build.DefaultOptions())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := File(ctx, []Part{Whole(open(t, path), nil)}, func(m hdl.Meta) (*hdl.Writer, error) { return hdl.Create(out, m) })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if left, _ := filepath.Glob(out + "*"); left != nil {
		t.Errorf("left: %q", left)
	}
}
