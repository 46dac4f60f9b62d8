package hdl

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"heddle/codec"
	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
)

// crafted is a change of content under correct checksums.
type crafted struct {
	name    string
	section section // numSections: the header
	change  func(b []byte)
	open    bool   // whether Open sees it, else Verify
	want    string // section and start of the reason
}

// repairBlocks makes all checksums right.
func repairBlocks(data []byte) { containertest.RepairSums(data, int(secSums)) }

// entry is the entry of a section in the section table of a file.
func entry(file []byte, s section) []byte {
	for b := file[container.TableOffset:]; ; b = b[container.TableEntry:] {
		if binary.LittleEndian.Uint32(b) == uint32(s) {
			return b
		}
	}
}

func put32(b []byte, at int, v uint32) { binary.LittleEndian.PutUint32(b[at:], v) }
func put64(b []byte, at int, v uint64) { binary.LittleEndian.PutUint64(b[at:], v) }

// run changes a copy of data, makes the checksums correct and opens it.
func (c crafted) run(t *testing.T, data []byte, repair func([]byte)) {
	t.Run(c.name, func(t *testing.T) {
		data := slices.Clone(data)
		part := data[:PageSize]
		if c.section != numSections {
			h, err := headerOf(data)
			if err != nil {
				t.Fatal(err)
			}
			e := h.Table[c.section]
			part = data[e.Offset : e.Offset+e.Length]
		}
		c.change(part)
		repair(data)
		for _, sums := range []bool{true, false} {
			f, err := fromBytes("x", data, sums)
			if open := c.open || !sums && strings.HasPrefix(c.want, secNameOffsets.String()); open != (err != nil) {
				t.Fatalf("Open: %v", err)
			}
			if err == nil {
				exercise(t, f)
				err = f.Verify(context.Background())
			}
			e := containertest.WantCorrupt(t, err, "x")
			if got := e.Section + ": " + e.Reason; !strings.HasPrefix(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		}
	})
}

func TestCrafted(t *testing.T) {
	const header = numSections
	data := tiny().image(t)
	for _, c := range []crafted{
		{"file size", header, func(b []byte) { put64(b, 16, 1<<63) }, true, "header: the file has"},
		{"sections", header, func(b []byte) { put32(b, 12, 11) }, true, "header: the sections end"},
		{"documents", header, func(b []byte) { put32(b, 24, 33) }, true, "header: section name-offsets"},
		{"documents at the limit", header, func(b []byte) { put32(b, 24, math.MaxUint32) }, true, "header: section name-offsets"},
		{"terms at the limit", header, func(b []byte) { put32(b, 28, math.MaxUint32) }, true, "header: section term-offsets"},
		{"postings", header, func(b []byte) { put64(b, 32, 33) }, true, "fields: the fields have"},
		{"tokens", header, func(b []byte) { put64(b, 40, 0) }, true, "fields: the fields have"},
		{"length", header, func(b []byte) { put64(b, 48, 0) }, true, "fields: the fields have"},
		{"section number", header, func(b []byte) { put32(b, container.TableOffset, 3) }, true, "header: section 1 behind section 3"},
		{"section 5", header, func(b []byte) { put32(b, container.TableOffset+4*container.TableEntry, 5) }, true, "header: section term-offsets has 0 bytes"},
		{"section offset", header, func(b []byte) { put64(b, container.TableOffset+8, 2*PageSize) }, true, "header: section docids"},
		{"section length", header, func(b []byte) { put64(b, container.TableOffset+16, math.MaxUint64) }, true, "header: section docids"},
		{"odd section length", header, func(b []byte) { put64(b, container.TableOffset+container.TableEntry+16, 11) }, true, "header: section freqs"},
		{"last section missing", header, func(b []byte) { put32(b, 12, 10) }, true, "header: the sections end"},
		{"section empty", header, func(b []byte) { put64(entry(b, secSums), 16, 0) }, true, "header: section sums is empty"},

		// The bytes of section lists: 5 2 0 30 1, then for "loom" 20, codec, words, frequency words, further tokens; "warp" likewise.
		{"length of an inline list", secLists, func(b []byte) { b[0] = 49 }, false, "lists: the postings of list 0 are not 24 docIDs"},
		{"inline docID", secLists, func(b []byte) { b[3] = 48 }, false, "lists: the postings of list 0"},
		{"inline gap", secLists, func(b []byte) { b[3] = 127 }, false, "lists: the postings of list 0"},
		{"inline frequency", secLists, func(b []byte) { b[4] = 2 }, false, "lists: 32 postings"},
		{"length above documents", secLists, func(b []byte) { b[5] = 50 }, false, "lists: the descriptor of list 1 is not one of a list in 24"},
		{"length", secLists, func(b []byte) { b[5] = 22 }, false, "lists: 33 postings"},
		{"words", secLists, func(b []byte) { b[7] = 100 }, false, "lists: list 1, 100 and"},
		{"fewer words", secLists, func(b []byte) { b[12] = 16 }, false, "lists: block 0 of lists ends 0 bytes early"},
		{"frequency words", secLists, func(b []byte) { b[8] = 100 }, false, "lists: list 1,"},
		{"fewer frequency words", secLists, func(b []byte) { b[13] = 1 }, false, "lists: block 0 of lists ends 0 bytes early"},
		{"tokens of a list", secLists, func(b []byte) { b[9]++ }, false, "lists: 32 postings"},
		{"tokens of two lists", secLists, func(b []byte) { b[9]++; b[14]-- }, false, "freqs: list 1: the frequencies add up"},
		{"unknown codec", secLists, func(b []byte) { b[6] = 99 }, false, "lists: list 1 has the unknown codec 99"},
		{"no codec", secLists, func(b []byte) { b[6] = 0 }, false, "lists: list 1 has the unknown codec 0"},
		{"raw length", secLists, func(b []byte) { b[6] = byte(codec.Raw) }, false, "lists: raw list 1"},
		{"words of a raw list", secLists, func(b []byte) { b[5], b[6] = 2, byte(codec.Raw) }, false, "lists: raw list 1 has "},
		{"wrong codec", secLists, func(b []byte) { b[6] = byte(codec.Bitset) }, false, "docids: list 1"},
		{"descriptor cut", secLists, func(b []byte) { b[14] |= 128 }, false, "lists: the descriptor of list 2"},
		{"descriptor too short", secLists, func(b []byte) { b[0], b[3], b[4] = 3, 5, 2 }, false, "lists: "},

		{"first block of lists", secListBlocks, func(b []byte) { put64(b, 0, 1) }, true, "list-blocks: the first block"},
		{"end of descriptors", secListBlocks, func(b []byte) { put64(b, 24, 14) }, true, "list-blocks: the blocks end"},
		{"end of docIDs", secListBlocks, func(b []byte) { put64(b, 32, 1<<63) }, true, "list-blocks: the blocks end"},
		{"end of frequencies", secListBlocks, func(b []byte) { put64(b, 40, 0) }, true, "list-blocks: the blocks end"},

		{"first block of terms", secTermOffsets, func(b []byte) { put64(b, 0, 1) }, true, "term-offsets: the first offset"},
		{"last block of terms", secTermOffsets, func(b []byte) { put64(b, 8, math.MaxUint64) }, true, "term-offsets: the last offset"},
		{"terms out of order", secTerms, func(b []byte) { b[8] = 'a' }, false, "terms: term 1"},
		{"prefix of nothing", secTerms, func(b []byte) { b[0] = 0x16 }, false, "terms: term 0 is not front-coded"},
		{"prefix of a shorter term", secTerms, func(b []byte) { b[7] = 0x74 }, false, "terms: term 1 is not front-coded"},
		{"term too long", secTerms, func(b []byte) { b[12] = 0x0f }, false, "terms: term 2 is not front-coded"},
		{"bytes behind a block", secTerms, func(b []byte) { b[12] = 3 }, false, "terms: term 2 is not front-coded"},

		{"descending name offset", secNameOffsets, func(b []byte) { put64(b, 8, 1000) }, false, "name-offsets: offset"},
		{"short block of names", secNameOffsets, func(b []byte) { put64(b, 8, 1) }, false, "names: the block of name 0"},
		{"too many codes", secNames, func(b []byte) { b[0], b[1] = 0x11, 0x11 }, false, "names: no code has these lengths"},
		{"code of 13 bits", secNames, func(b []byte) { b[0] = 13 }, false, "names: no code has these lengths"},
		{"no codes", secNames, func(b []byte) { clear(b[:codeSize]) }, false, "names: the block of name 0"},

		{"words of lengths", secLengths, func(b []byte) { put32(b, 0, math.MaxUint32) }, true, "lengths: the lengths of documents from 0 on"},
		{"fewer words of lengths", secLengths, func(b []byte) { put32(b, 0, 2) }, true, "lengths: lengths: segment 0"},
		{"words of lengths behind the end", secLengths, func(b []byte) { put32(b, 0, uint32(len(b)/4)) }, true, "lengths: the lengths of documents from 0 on"},
		{"directory of lengths", secLengths, func(b []byte) { put32(b, 0, 1) }, true, "lengths: lengths: ends inside a directory"},
		{"document length", secLengths, func(b []byte) { b[12] ^= 1 }, false, "lengths: the lengths add up"},
		{"meta", secMeta, func(b []byte) { b[0] = '[' }, true, "meta: "},
		{"documents with terms", secFields, func(b []byte) { b[12]-- }, false, "fields: 23 documents with terms, the lengths and lists have 24"},
		{"more documents with terms", secFields, func(b []byte) { b[12]++ }, true, "fields: a field with 25 of 24 documents"},
		{"handles of a field", secFields, func(b []byte) { b[4]-- }, true, "fields: the fields have"},
		{"reserved bytes of a field", secFields, func(b []byte) { b[63] = 1 }, true, "fields: byte 63 of"},

		{"segment header", secDocIDs, func(b []byte) { put32(b, 8, math.MaxUint32) }, false, "docids: list 1"},
		{"rank", secDocIDs, func(b []byte) { b[len(b)-4-12] = 1 }, false, "docids: list 2"},
		{"frequency header", secFreqs, func(b []byte) { put32(b, 4, math.MaxUint32) }, false, "freqs: list 1"},
		{"frequency", secFreqs, func(b []byte) { b[8] ^= 1 }, false, "freqs: list 1: the frequencies add up"},
	} {
		c.run(t, data, repairBlocks)
	}
}

// TestCraftedBlocks changes an index with several blocks of descriptors.
func TestCraftedBlocks(t *testing.T) {
	s := &sample{meta: Meta{Docs: 300}, names: make([]string, 300), lens: make([]uint32, 300)}
	for i := range uint32(3 * listBlock) {
		s.add(fmt.Sprintf("%03d", i), every(64, 1+i%3))
	}
	data := s.image(t)
	entry := 8 * listPlaceWords
	for _, c := range []crafted{
		{"descriptors descend", secListBlocks, func(b []byte) { put64(b, entry, 1<<40) }, true, "list-blocks: block 1 at"},
		{"docIDs descend", secListBlocks, func(b []byte) { put64(b, entry+8, 1<<40) }, true, "list-blocks: block 1 at"},
		{"frequencies descend", secListBlocks, func(b []byte) { put64(b, entry+16, 1<<40) }, true, "list-blocks: block 1 at"},
		{"a long list in its descriptor", secLists, func(b []byte) { b[0], b[1] = 0x80|(2*200+1)&0x7f, (2*200+1)>>7 }, false, "lists: list 0 has 200 docIDs in its descriptor"},
		{"one byte less", secListBlocks, func(b []byte) { b[entry]-- }, false, "lists: the descriptor of list 127"},
		{"a list less", secListBlocks, func(b []byte) { put64(b, entry+8, binary.LittleEndian.Uint64(b[entry+8:])-4) }, false, "lists: list 127,"},
		{"a list more", secListBlocks, func(b []byte) { put64(b, entry+8, binary.LittleEndian.Uint64(b[entry+8:])+4) }, false, "lists: block 0 of lists ends"},
		{"a frequency word less", secListBlocks, func(b []byte) { b[entry+16]-- }, false, "lists: list 127,"},
	} {
		c.run(t, data, repairBlocks)
	}
}
