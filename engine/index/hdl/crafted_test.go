package hdl

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
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
		{"sections", header, func(b []byte) { put32(b, 12, 11) }, true, "header: 11 sections"},
		{"documents", header, func(b []byte) { put32(b, 24, 33) }, true, "header: section name-offsets"},
		{"documents at the limit", header, func(b []byte) { put32(b, 24, math.MaxUint32) }, true, "header: section name-offsets"},
		{"terms at the limit", header, func(b []byte) { put32(b, 28, math.MaxUint32) }, true, "header: section term-offsets"},
		{"postings", header, func(b []byte) { put64(b, 32, 33) }, false, "lists: 32 postings"},
		{"tokens", header, func(b []byte) { put64(b, 40, 0) }, false, "lists: 32 postings"},
		{"length", header, func(b []byte) { put64(b, 48, 0) }, false, "lengths: the lengths add up"},
		{"section number", header, func(b []byte) { put32(b, container.TableOffset, 3) }, true, "header: section 3 in the place of 0"},
		{"section offset", header, func(b []byte) { put64(b, container.TableOffset+8, 2*PageSize) }, true, "header: section docids"},
		{"section length", header, func(b []byte) { put64(b, container.TableOffset+16, math.MaxUint64) }, true, "header: section docids"},
		{"odd section length", header, func(b []byte) { put64(b, container.TableOffset+container.TableEntry+16, 11) }, true, "header: section freqs"},
		{"last section missing", header, func(b []byte) { put64(b, container.TableOffset+14*container.TableEntry+16, 0) }, true, "header: the sections end"},

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
		{"fewer words of lengths", secLengths, func(b []byte) { put32(b, 0, 2) }, true, "lengths: "},
		{"directory of lengths", secLengths, func(b []byte) { put32(b, 0, 1) }, true, "lengths: lengths: ends inside a directory"},
		{"document length", secLengths, func(b []byte) { b[12] ^= 1 }, false, "lengths: the lengths add up"},
		{"meta", secMeta, func(b []byte) { b[0] = '[' }, true, "meta: "},

		{"segment header", secDocIDs, func(b []byte) { put32(b, 8, math.MaxUint32) }, false, "docids: list 1"},
		{"rank", secDocIDs, func(b []byte) { b[len(b)-4-12] = 1 }, false, "docids: list 2"},
		{"frequency header", secFreqs, func(b []byte) { put32(b, 4, math.MaxUint32) }, false, "freqs: list 1"},
		{"frequency", secFreqs, func(b []byte) { b[8] ^= 1 }, false, "freqs: list 1: the frequencies add up"},
	} {
		c.run(t, data, containertest.RepairBlocks)
	}
}

// TestCraftedBlocks changes an index with several blocks of descriptors.
func TestCraftedBlocks(t *testing.T) {
	s := &sample{meta: Meta{Docs: 64}, names: make([]string, 64), lens: make([]uint32, 64)}
	for i := range uint32(3 * listBlock) {
		s.add(fmt.Sprintf("%03d", i), every(64, 1+i%3))
	}
	data := s.image(t)
	entry := 8 * listPlaceWords
	for _, c := range []crafted{
		{"descriptors descend", secListBlocks, func(b []byte) { put64(b, entry, 1<<40) }, true, "list-blocks: block 1 at"},
		{"docIDs descend", secListBlocks, func(b []byte) { put64(b, entry+8, 1<<40) }, true, "list-blocks: block 1 at"},
		{"frequencies descend", secListBlocks, func(b []byte) { put64(b, entry+16, 1<<40) }, true, "list-blocks: block 1 at"},
		{"one byte less", secListBlocks, func(b []byte) { b[entry]-- }, false, "lists: the descriptor of list 127"},
		{"a list less", secListBlocks, func(b []byte) { put64(b, entry+8, binary.LittleEndian.Uint64(b[entry+8:])-4) }, false, "lists: list 127,"},
		{"a list more", secListBlocks, func(b []byte) { put64(b, entry+8, binary.LittleEndian.Uint64(b[entry+8:])+4) }, false, "lists: block 0 of lists ends"},
		{"a frequency word less", secListBlocks, func(b []byte) { b[entry+16]-- }, false, "lists: list 127,"},
	} {
		c.run(t, data, containertest.RepairBlocks)
	}
}

// TestCraftedEarlier changes a file of version 1, the same index.
func TestCraftedEarlier(t *testing.T) {
	const header, second = numSections, listSize // the descriptor of "loom", a ParaPFor list of 10
	data, err := os.ReadFile("testdata/version1.hdl")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []crafted{
		{"documents", header, func(b []byte) { put32(b, 24, 25) }, true, "header: section name-offsets"},
		{"terms at the limit", header, func(b []byte) { put32(b, 28, math.MaxUint32) }, true, "header: section lists"},
		{"postings", header, func(b []byte) { put64(b, 32, 33) }, true, "lists: 32 postings"},
		{"length", header, func(b []byte) { put64(b, 48, 0) }, false, "lengths: the lengths add up"},

		{"list offset", secLists, func(b []byte) { put64(b, second, 4+4) }, true, "lists: list 1 does not lie behind"},
		{"list offset at the limit", secLists, func(b []byte) { put64(b, 0, math.MaxUint64) }, true, "lists: list 0 does not lie behind"},
		{"frequency offset", secLists, func(b []byte) { put64(b, second+8, 0) }, true, "lists: list 1 does not lie behind"},
		{"words at the limit", secLists, func(b []byte) { put32(b, second+24, math.MaxUint32) }, true, "lists: list 1, 4294967295 words"},
		{"fewer words", secLists, func(b []byte) { put32(b, 2*listSize+24, 9) }, true, "lists: lists end at"},
		{"frequency words at the limit", secLists, func(b []byte) { put32(b, second+28, math.MaxUint32) }, true, "lists: frequencies of list 1"},
		{"fewer frequency words", secLists, func(b []byte) { put32(b, 2*listSize+28, 1) }, true, "lists: lists end at"},
		{"raw length", secLists, func(b []byte) { put32(b, 32, 1) }, true, "lists: raw list 0"},
		{"length above documents", secLists, func(b []byte) { put32(b, second+32, 25) }, true, "lists: list 1 has 25 docIDs"},
		{"length at the limit", secLists, func(b []byte) { put32(b, second+32, math.MaxUint32) }, true, "lists: list 1 has 4294967295 docIDs"},
		{"tokens below length", secLists, func(b []byte) { put64(b, second+16, 9) }, true, "lists: list 1 has 10 docIDs and 9 tokens"},
		{"unknown codec", secLists, func(b []byte) { b[36] = 99 }, true, "lists: list 0 has the unknown codec 99"},
		{"no codec", secLists, func(b []byte) { b[36] = 0 }, true, "lists: list 0 has the unknown codec 0"},
		{"wrong codec", secLists, func(b []byte) { b[second+36] = byte(codec.Bitset) }, false, "docids: list 1"},
		{"reserved bytes", secLists, func(b []byte) { b[second+39] = 1 }, true, "lists: list 1 has reserved bytes"},

		{"first term offset", secTermOffsets, func(b []byte) { put64(b, 0, 1) }, true, "term-offsets: the first offset"},
		{"last term offset", secTermOffsets, func(b []byte) { put64(b, 24, 15) }, true, "term-offsets: the last offset"},
		{"term offset at the limit", secTermOffsets, func(b []byte) { put64(b, 8, math.MaxUint64) }, true, "term-offsets: offset"},
		{"descending term offset", secTermOffsets, func(b []byte) { put64(b, 16, 5) }, true, "term-offsets: offset 5 behind 6"},
		{"descending name offset", secNameOffsets, func(b []byte) { put64(b, 8, 100) }, true, "name-offsets: offset"},
		{"slot of no term", secTermHash, func(b []byte) { firstSlot(b, func(s uint64) uint64 { return s | 0xff }) }, true, "term-hash: slot for term"},
		{"slot of no handle", secTermHash, func(b []byte) { firstSlot(b, func(s uint64) uint64 { return s >> 32 << 32 }) }, true, "term-hash: slot for term"},
		{"slot emptied", secTermHash, func(b []byte) { firstSlot(b, func(uint64) uint64 { return 0 }) }, true, "term-hash: 2 slots in use"},
		{"all slots full", secTermHash, func(b []byte) {
			for i := 0; i < len(b); i += 8 {
				put64(b, i, 1)
			}
		}, true, "term-hash: 8 slots in use"},
		{"slot of another hash", secTermHash, func(b []byte) { firstSlot(b, func(s uint64) uint64 { return s ^ 1<<63 }) }, false, "term-hash: term"},
		{"meta", secMeta, func(b []byte) { b[0] = '[' }, true, "meta: "},

		{"terms out of order", secTerms, func(b []byte) { b[6] = 'a' }, false, "terms: term 1"},
		{"term changed", secTerms, func(b []byte) { b[1] = 'f' }, false, "term-hash: term 0 is not found"},
		{"docIDs out of order", secDocIDs, func(b []byte) { put32(b, 0, 17) }, false, "docids: list 0"},
		{"docID out of range", secDocIDs, func(b []byte) { put32(b, 4, 24) }, false, "docids: list 0: docID 24"},
		{"segment header", secDocIDs, func(b []byte) { put32(b, 16+8, math.MaxUint32) }, false, "docids: list 1"},
		{"rank", secDocIDs, func(b []byte) { b[len(b)-4-12] = 1 }, false, "docids: list 2"},
		{"frequency header", secFreqs, func(b []byte) { put32(b, 4, math.MaxUint32) }, false, "freqs: list 0"},
		{"frequency", secFreqs, func(b []byte) { b[8] ^= 1 }, false, "freqs: list 0: the frequencies add up"},
		{"document length", secLengths, func(b []byte) { b[0]++ }, false, "lengths: the lengths add up"},
	} {
		c.run(t, data, containertest.Repair)
	}
}

// firstSlot changes the first slot in use.
func firstSlot(b []byte, change func(uint64) uint64) {
	for ; ; b = b[8:] {
		if s := binary.LittleEndian.Uint64(b); s != 0 {
			binary.LittleEndian.PutUint64(b, change(s))
			return
		}
	}
}
