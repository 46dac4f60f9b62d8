package container_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
)

// sparse has one version, in which sections without content are not listed.
var sparse = container.Format{Magic: "\x89HDS\r\n\x1a\n", Suffix: ".sparse", Version: 3, Names: []string{"a", "b", "sums", "d", "e"},
	Sums: 2, Sparse: true, Advice: "build it again"}

// TestSparse writes sections with and without content, and compares with a file that is laid out at once.
func TestSparse(t *testing.T) {
	long := noise(200_000)
	for _, want := range [][][]byte{{long, nil, nil, []byte("d")}, {nil, noise(3), nil, nil, long}, {nil, nil, nil, []byte("d")}} {
		path := filepath.Join(t.TempDir(), "x")
		w, err := container.Create(container.OSDisk{}, path, &sparse)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range want {
			err = errors.Join(err, w.Sections[i].Append(b))
		}
		if err := errors.Join(err, w.Commit(func() (f container.Fields, err error) { return f, nil })); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, containertest.Layout(&sparse, container.Fields{}, want...)) {
			t.Fatalf("another file (%v)", err)
		}
		f, err := container.Open(path, &sparse)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		listed := 1 // the checksums
		for i, b := range want {
			if len(b) > 0 {
				listed++
			}
			if i != 2 && !bytes.Equal(f.Bytes(i), b) {
				t.Errorf("section %d has %d bytes, want %d", i, len(f.Bytes(i)), len(b))
			}
			if err := f.CheckSection(i); i != 2 && err != nil {
				t.Error(err)
			}
		}
		if err := f.CheckSums(); err != nil || len(f.Sections()) != listed {
			t.Errorf("%d sections, want %d; %v", len(f.Sections()), listed, err)
		}
		fewer := sparse // a reader that does not know sections d and e
		fewer.Names = sparse.Names[:3]
		g, err := container.New("x", got, &fewer)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(g.CheckSums(), g.CheckSection(0), g.CheckSection(1)); err != nil || !bytes.Equal(g.Bytes(0), want[0]) {
			t.Errorf("with unknown sections: %v", err)
		}
		got[len(got)-1] ^= 1 // padding of an unknown section
		if err := g.CheckSums(); err == nil {
			t.Error("damage in an unknown section passes")
		}
	}
}

// TestSparseTable opens tables that no writer makes.
func TestSparseTable(t *testing.T) {
	good := containertest.Layout(&sparse, container.Fields{}, noise(9), nil, nil, noise(7))
	le := binary.LittleEndian
	for name, c := range map[string]struct {
		edit   func(data []byte)
		reason string
	}{
		"descending": {func(d []byte) { le.PutUint32(d[container.TableOffset+2*container.TableEntry:], 1) }, "behind section 2"},
		"huge":       {func(d []byte) { le.PutUint32(d[container.TableOffset+2*container.TableEntry:], 1<<31) }, "ascend up to 255"},
		"empty":      {func(d []byte) { le.PutUint64(d[container.TableOffset+16:], 0) }, "is empty"},
		"many":       {func(d []byte) { le.PutUint32(d[12:], 1<<30) }, "has room for"},
		"few":        {func(d []byte) { le.PutUint32(d[12:], 2) }, "the sections end"},
	} {
		data := bytes.Clone(good)
		c.edit(data)
		containertest.Repair(data)
		_, err := container.New("x", data, &sparse)
		if e := containertest.WantCorrupt(t, err, "x"); !strings.Contains(e.Reason, c.reason) {
			t.Errorf("%s: %v, want %q", name, err, c.reason)
		}
	}
	le.PutUint32(good[8:], 2)
	containertest.Repair(good)
	_, err := container.New("x", good, &sparse)
	if !errors.Is(err, container.ErrVersion) || !strings.HasSuffix(err.Error(), "the file has 2, this build reads 3: build it again") {
		t.Errorf("earlier version: %v", err)
	}
}
