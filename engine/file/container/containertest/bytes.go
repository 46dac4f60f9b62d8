package containertest

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"strings"
	"testing"

	"heddle/engine/file/container"
)

// Repair makes all checksums right, as far as data has a section table.
func Repair(data []byte) {
	if len(data) < container.PageSize {
		return
	}
	le := binary.LittleEndian
	table := crc32.MakeTable(crc32.Castagnoli)
	const most = (container.SumOffset - container.TableOffset) / container.TableEntry
	for i := range min(le.Uint32(data[12:]), most) {
		p := data[container.TableOffset+i*container.TableEntry:]
		e := container.Extent{Offset: le.Uint64(p[8:]), Length: le.Uint64(p[16:])}
		if n := uint64(len(data)); e.Offset <= n && e.Length <= n-e.Offset && e.End() <= n {
			le.PutUint32(p[4:], crc32.Checksum(data[e.Offset:e.End()], table))
		}
	}
	le.PutUint32(data[container.SumOffset:], crc32.Checksum(data[:container.SumOffset], table))
}

// WantCorrupt checks that err is the typed error, with a place in the file.
func WantCorrupt(t testing.TB, err error, path string) *container.CorruptError {
	t.Helper()
	var c *container.CorruptError
	if !errors.As(err, &c) || !errors.Is(err, container.ErrCorrupt) {
		t.Fatalf("got %v, want a CorruptError", err)
	}
	if c.Path != path || c.Offset < 0 || c.Section == "" || c.Reason == "" {
		t.Fatalf("incomplete error %+v", c)
	}
	return c
}

// WantFolder checks that dir holds just these names.
func WantFolder(t testing.TB, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("the folder holds %q, want %q", got, want)
	}
}

// Hexdump prints data like hexdump -C: repeated lines as one asterisk.
func Hexdump(data []byte) string {
	var out strings.Builder
	before := ""
	starred := false
	for line := range strings.Lines(hex.Dump(data)) {
		content := line[8:]
		switch {
		case content != before:
			out.WriteString(line)
			starred = false
		case !starred:
			out.WriteString("*\n")
			starred = true
		}
		before = content
	}
	fmt.Fprintf(&out, "%08x\n", len(data))
	return out.String()
}

// Layout makes a file of sections in the order of their numbers, with correct checksums. The
// section with the checksums of blocks is left out or replaced.
func Layout(f *container.Format, fields container.Fields, sections ...[]byte) []byte {
	h := container.Header{Fields: fields, Table: make([]container.Extent, len(f.Names))}
	sections = slices.Clone(sections)
	for len(sections) <= f.Sums {
		sections = append(sections, nil)
	}
	n := 0
	for i, b := range sections {
		if i != f.Sums {
			n += int((container.AlignUp(uint64(len(b)), container.PageSize) + container.BlockSize - 1) / container.BlockSize)
		}
	}
	sections[f.Sums] = make([]byte, 4*n)
	data := make([]byte, container.PageSize)
	for i, b := range sections {
		h.Table[i] = container.Extent{Offset: uint64(len(data)), Length: uint64(len(b))}
		data = append(data, b...)
		data = append(data, make([]byte, -len(data)&(container.PageSize-1))...)
	}
	h.Size = uint64(len(data))
	copy(data, f.Encode(&h))
	RepairSums(data, f.Sums)
	return data
}

// RepairSums is Repair for a file whose section with a number holds the checksums of blocks.
func RepairSums(data []byte, number int) {
	le := binary.LittleEndian
	table := crc32.MakeTable(crc32.Castagnoli)
	n := uint64(len(data))
	var sums container.Extent
	var extents []container.Extent
	for i := range min(int(le.Uint32(data[12:])), (container.SumOffset-container.TableOffset)/container.TableEntry) {
		p := data[container.TableOffset+i*container.TableEntry:]
		e := container.Extent{Offset: le.Uint64(p[8:]), Length: le.Uint64(p[16:])}
		if int(le.Uint32(p)) == number {
			sums = e
		} else {
			extents = append(extents, e)
		}
	}
	defer Repair(data)
	if sums.Offset > n || sums.Length > n-sums.Offset {
		return
	}
	out := data[sums.Offset:][:sums.Length]
	for _, e := range extents {
		if e.Offset > n || e.Length > n-e.Offset || e.End() > n {
			return
		}
		for b := range slices.Chunk(data[e.Offset:e.End()], container.BlockSize) {
			if len(out) < 4 {
				return
			}
			le.PutUint32(out, crc32.Checksum(b, table))
			out = out[4:]
		}
	}
}
