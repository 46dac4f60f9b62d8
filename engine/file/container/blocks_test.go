package container_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
)

// TestBlocks writes sections in pieces and through a second spool, changes each block in
// turn, and checks that just the ranges over this block fail.
func TestBlocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.sum")
	w, err := container.Create(container.OSDisk{}, path, &two)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	temp := w.Temp("temp")
	for _, err := range []error{
		w.Sections[0].Append(noise(5)), w.Sections[1].Append(noise(70_000)), temp.Append(noise(300_000)),
		w.Sections[1].AppendSpool(temp), w.Sections[1].Append(noise(9)),
		w.Commit(func() (f container.Fields, err error) { return f, nil }),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	open := func() *container.File {
		f, err := container.New("x", data, &two)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := open()
	for s := range 2 {
		if err := f.CheckSection(s); err != nil {
			t.Fatal(err)
		}
	}
	const size = 370_009
	start := uint64(f.Sections()[1].Offset)
	for block := range uint64(6) {
		at := start + min(block*container.BlockSize+77, size-1)
		data[at] ^= 4
		for i := range uint64(6) {
			f := open()
			from, to := i*container.BlockSize, min((i+1)*container.BlockSize, size)
			for range 2 {
				if err := f.Check(1, from, to); (err != nil) != (i == block) {
					t.Fatalf("block %d is wrong, the check of block %d says %v", block, i, err)
				}
			}
			containertest.WantCorrupt(t, f.Check(1, 0, size), "x")
			containertest.WantCorrupt(t, f.CheckSection(1), "x")
			if err := f.Check(1, from, from); err != nil {
				t.Fatal(err)
			}
		}
		data[at] ^= 4
	}
	data[len(data)-1] ^= 1
	_, err = container.New("x", data, &two)
	if c := containertest.WantCorrupt(t, err, "x"); c.Section != "sums" {
		t.Error(c)
	}
}

// TestRewind: nothing of the content before Rewind is in the checksums of a section, whether it had a file,
// and whether a block was full.
func TestRewind(t *testing.T) {
	for _, before := range []int{5, container.BlockSize + 5, 300_000} {
		path := filepath.Join(t.TempDir(), "x.sum")
		w, err := container.Create(container.OSDisk{}, path, &two)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Abort()
		temp := w.Temp("temp")
		for _, err := range []error{
			w.Sections[1].Append(noise(before)), w.Sections[1].Append(noise(before)), w.Sections[1].Rewind(), w.Sections[1].Append(noise(70_000)),
			temp.Append(noise(before)), temp.Rewind(), temp.Append(noise(9)), w.Sections[0].AppendSpool(temp),
			w.Commit(func() (f container.Fields, err error) { return f, nil }),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		f, err := container.Open(path, &two)
		if err != nil {
			t.Fatalf("%d bytes before Rewind: %v", before, err)
		}
		defer f.Close()
		for s, want := range [][]byte{noise(9), noise(70_000)} {
			if err := errors.Join(f.CheckSection(s), f.CheckSums()); err != nil || !bytes.Equal(f.Bytes(s), want) {
				t.Errorf("%d bytes before Rewind: section %d has %d bytes, error %v", before, s, len(f.Bytes(s)), err)
			}
		}
	}
}
