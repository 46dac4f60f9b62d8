package hdl

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"heddle/engine/file/container/containertest"
)

// fieldedImage is the bytes of an index with the fields body and title, with positions.
func fieldedImage(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.hdl")
	w, err := Create(path, Meta{Docs: 3, Fields: []string{"title", "body"}, Positions: true})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(w.AddDocument("a", 2, 1), w.AddDocument("b", 1, 0), w.AddDocument("c", 0, 1),
		w.AddList("body:loom", []uint32{0, 1}, []uint32{2, 1}), w.AddPositions([]uint32{0, 0, 0}),
		w.AddList("title:loom", []uint32{0}, []uint32{1}), w.AddPositions([]uint32{0}),
		w.AddList("title:weft", []uint32{2}, []uint32{1}), w.AddPositions([]uint32{0}), w.Commit())
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestFlippedFields changes every byte of a file with fields: it is corrupt in the section of the byte, and the trusted open
// neither panics nor gives an error of another type.
func TestFlippedFields(t *testing.T) {
	data := fieldedImage(t)
	h, err := headerOf(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []section{secFields, secLengths, secMeta, secTerms, secLists, secPositionLists} {
		e := h.Table[s]
		for i := e.Offset; i < e.Offset+e.Length; i++ {
			for _, flip := range []byte{1 << (i % 8), 0xff} {
				data[i] ^= flip
				f, err := fromBytes("x", data, true)
				if err == nil {
					err = f.Verify(t.Context())
				}
				if c := containertest.WantCorrupt(t, err, "x"); c.Section != s.String() {
					t.Fatalf("byte %d of section %s changed, the error is %v", i-e.Offset, s, err)
				}
				if f, err := fromBytes("x", data, false); err == nil {
					exercise(t, f)
				} else if !errors.Is(err, ErrVersion) {
					containertest.WantCorrupt(t, err, "x")
				}
				data[i] ^= flip
			}
		}
	}
}

// TestCraftedFields has damage of fields under correct checksums.
func TestCraftedFields(t *testing.T) {
	data := fieldedImage(t)
	for _, c := range []crafted{
		{"terms of the first field", secFields, func(b []byte) { b[4]-- }, true, "fields: byte 0 of the entry"},
		{"terms of both fields", secFields, func(b []byte) { b[4]++; b[64]++; b[68]-- }, false, "terms: term 1 is not of the field body"},
		{"documents with terms", secFields, func(b []byte) { b[64+12]-- }, false, "fields: "},
		{"length of both fields", secFields, func(b []byte) { b[16]--; b[64+16]++ }, false, "lengths: "},
		{"postings of both fields", secFields, func(b []byte) { b[24]--; b[64+24]++ }, false, "fields: "},
		{"tokens of both fields", secFields, func(b []byte) { b[32]--; b[48]--; b[64+32]++; b[64+48]++ }, false, "fields: "},
		{"lengths of the second field", secFields, func(b []byte) { b[64+40] = 0 }, true, "fields: "},
		{"positions of the second field", secFields, func(b []byte) { b[64+48]++ }, true, "fields: byte 48"},
	} {
		c.run(t, data, repairBlocks)
	}
}
