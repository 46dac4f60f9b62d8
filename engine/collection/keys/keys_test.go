package keys

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
)

// index builds an index of documents with these names.
func index(t testing.TB, names []string) *hdl.File {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "x.hdl")
	text := ""
	for _, n := range names {
		text += n + "\tloom\n"
	}
	if _, err := build.Build(context.Background(), path, []string{"-"}, build.Options{Format: build.Text, Stdin: strings.NewReader(text)}); err != nil {
		t.Fatal(err)
	}
	f, err := hdl.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// write writes and opens the keys of f.
func write(t testing.TB, f *hdl.File) (*Keys, []uint32) {
	t.Helper()
	path := f.Path() + ".hdk"
	earlier, err := Write(container.OSDisk{}, path, f)
	if err != nil {
		t.Fatal(err)
	}
	k, err := Open(path, uint64(f.Docs()), f.DocName)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k, earlier
}

// TestFind: keys find the last document of each name, and no other name.
func TestFind(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		all := rapid.SliceOfN(rapid.StringMatching(`[a-c]{1,4}`), 1, 60).Draw(r, "names")
		k, earlier := write(t, index(t, all))
		last := map[string]int{}
		var want []uint32
		for d, n := range all {
			if old, ok := last[n]; ok {
				want = append(want, uint32(old))
			}
			last[n] = d
		}
		slices.Sort(want)
		if !slices.Equal(earlier, want) {
			r.Fatalf("earlier documents %v, want %v", earlier, want)
		}
		for _, n := range append(all, "d", "aaaaa", "") {
			doc, found, err := k.Find(n)
			at, ok := last[n]
			if err != nil || found != ok || found && doc != uint32(at) {
				r.Fatalf("%q: %d, %v, %v; want %d, %v", n, doc, found, err, at, ok)
			}
		}
	})
}

// TestWriteMemory: Write reads no name whose hash no other name has, so that it allocates
// only once a document, where it lists all names.
func TestWriteMemory(t *testing.T) {
	var all []string
	for i := range 1000 {
		all = append(all, fmt.Sprint("n", i))
	}
	f := index(t, all)
	path := filepath.Join(t.TempDir(), "x.hdk")
	if n := testing.AllocsPerRun(3, func() {
		if earlier, err := Write(container.OSDisk{}, path, f); err != nil || earlier != nil {
			t.Error(earlier, err)
		}
	}); n >= 1.5*float64(len(all)) {
		t.Errorf("%.0f allocations for %d documents", n, len(all))
	}
}

// TestFar: the documents of one name are found, however far apart they are, and so are names that share
// the upper 16 bits of their hashes.
func TestFar(t *testing.T) {
	const docs = 70_000
	path := filepath.Join(t.TempDir(), "x.hdl")
	w, err := hdl.Create(path, hdl.Meta{Docs: docs})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for d := range docs {
		name := fmt.Sprint("n", d)
		if d == 1 || d == docs-1 {
			name = "same"
		}
		if err := w.AddDocument(name, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	f, err := hdl.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	k, earlier := write(t, f)
	if !slices.Equal(earlier, []uint32{1}) {
		t.Errorf("earlier documents %v, want the first one", earlier)
	}
	for _, name := range []string{"same", "n0", "n69998", "n35000"} {
		want := docs - 1
		if name != "same" {
			fmt.Sscanf(name, "n%d", &want)
		}
		if doc, found, err := k.Find(name); err != nil || !found || doc != uint32(want) {
			t.Errorf("%s is document %d, %v, %v; want %d", name, doc, found, err, want)
		}
	}
}

// TestCorrupt: each flipped byte is an error of Open, or of the lookups, or changes nothing, and so
// is each truncation.
func TestCorrupt(t *testing.T) {
	var all []string
	for i := range 40 {
		all = append(all, fmt.Sprint("n", i))
	}
	f := index(t, all)
	k, _ := write(t, f)
	data, err := os.ReadFile(k.file.Path)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bad.hdk")
	check := func(data []byte) (failed bool) {
		file, err := container.New(path, data, &format)
		if err == nil {
			var k *Keys
			if k, err = read(file, uint64(f.Docs()), f.DocName); err == nil {
				for i, n := range all {
					doc, found, wrong := k.Find(n)
					if err = errors.Join(err, wrong); wrong == nil && (!found || doc != uint32(i)) {
						t.Errorf("wrong answer for %s", n)
					}
				}
			}
		}
		if err != nil && !errors.Is(err, container.ErrCorrupt) && !errors.Is(err, container.ErrVersion) {
			t.Errorf("error %v", err)
		}
		return err != nil
	}
	if check(data) {
		t.Fatal("the good file fails")
	}
	for i := range data {
		bad := slices.Clone(data)
		bad[i] ^= 1 << (i % 8)
		if !check(bad) {
			t.Fatalf("byte %d changed without an error", i)
		}
	}
	for n := 0; n < len(data); n += 509 {
		if !check(data[:n]) {
			t.Fatalf("%d bytes are enough", n)
		}
	}
}

// TestDisk: a disk that fails at any operation leaves no file.
func TestDisk(t *testing.T) {
	f := index(t, []string{"a", "b"})
	for fail := 0; ; fail++ {
		d := &containertest.Disk{Fail: fail}
		path := filepath.Join(t.TempDir(), "x.hdk")
		_, err := Write(d, path, f)
		if err == nil {
			break
		}
		if !errors.Is(err, containertest.ErrFault) {
			t.Fatal(err)
		}
		if left, _ := filepath.Glob(path + "*"); left != nil && !d.Renamed {
			t.Fatalf("operation %d left %q", fail, left)
		}
	}
}

// TestPowerCuts replaces keys on a disk that loses its power.
func TestPowerCuts(t *testing.T) {
	f, other := index(t, []string{"a", "b", "c"}), index(t, []string{"a", "b"})
	path := other.Path() + ".hdk"
	if _, err := Write(container.OSDisk{}, path, other); err != nil {
		t.Fatal(err)
	}
	containertest.PowerCuts(t, path, func(d container.Disk, path string) error {
		_, err := Write(d, path, f)
		return err
	})
}

// TestOther: keys of another index are refused.
func TestOther(t *testing.T) {
	k, _ := write(t, index(t, []string{"a", "b"}))
	if _, err := Open(k.file.Path, 1, k.name); !errors.Is(err, container.ErrCorrupt) {
		t.Errorf("error %v", err)
	}
}

// FuzzFind: any bytes give an answer or an error.
func FuzzFind(f *testing.F) {
	x := index(f, []string{"a", "b", "c"})
	k, _ := write(f, x)
	data, err := os.ReadFile(k.file.Path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := container.New("x.hdk", data, &format)
		if err != nil {
			return
		}
		k, err := read(file, uint64(x.Docs()), x.DocName)
		if err != nil {
			return
		}
		for _, n := range []string{"a", "b", "c", "d"} {
			if _, _, err := k.Find(n); err != nil && !errors.Is(err, container.ErrCorrupt) {
				t.Fatal(err)
			}
		}
	})
}
