package hdb

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"testing"

	"heddle/engine/table/column"
)

// reader reads a file by FORMAT.md, sentence by sentence, and shares no code with the
// package. If it reads a file of the Writer, the document is true.
type reader struct{ data []byte }

func (r reader) u32(at uint64) uint32 { return binary.LittleEndian.Uint32(r.data[at:]) }
func (r reader) u64(at uint64) uint64 { return binary.LittleEndian.Uint64(r.data[at:]) }

// section gives offset and length of section i.
func (r reader) section(i uint64) (offset, length uint64) {
	return r.u64(64 + 24*i + 8), r.u64(64 + 24*i + 16)
}

func (r reader) u16(at uint64) uint64 { return uint64(binary.LittleEndian.Uint16(r.data[at:])) }

// tile reads the codes of a tile, and which rows have a value, from its descriptor and the start of section slices.
func (r reader) tile(at, section uint64) (codes []uint64, has []bool) {
	start, least := section+4*r.u64(at), r.u64(at+8)
	width, flags, rows := uint64(r.data[at+16]), r.data[at+17], r.u16(at+18)+1
	plain := (rows + 127) / 128 * 16
	slice := func(i uint64) (bits []bool) {
		bits = make([]bool, rows)
		form, from := uint64(0), start+i*plain
		if flags&2 == 0 {
			entry := r.u16(start + 2*i)
			form, from = entry>>14, start+16*(entry&(1<<14-1))
		}
		rare := uint64(0)
		if form == 3 {
			rare = r.u16(from) >> 15
		}
		for row := range rows {
			switch form {
			case 0:
				bits[row] = r.data[from+row/8]>>(row%8)&1 == 1
			case 2:
				bits[row] = true
			case 3:
				bits[row] = rare == 0
			}
		}
		if form == 3 {
			for k := range r.u16(from) & (1<<15 - 1) {
				bits[r.u16(from+2+2*k)] = rare == 1
			}
		}
		return bits
	}
	codes, has = make([]uint64, rows), slices.Repeat([]bool{true}, int(rows))
	if flags&1 != 0 {
		has = slice(0)
	}
	for i := range width {
		for row, bit := range slice(uint64(flags&1) + i) {
			if bit {
				codes[row] += 1 << (width - 1 - i)
			}
		}
	}
	for row := range codes {
		codes[row] += least
	}
	return codes, has
}

// vector decodes a vector of so many words from byte offset on, a byte a bit.
func (r reader) vector(offset, words, rows uint64, word uint32) (bits []byte) {
	g := uint64(word - 1)
	for k := range words {
		w := uint64(0)
		if word == 32 {
			w = uint64(r.u32(offset + 4*k))
		} else {
			w = r.u64(offset + 8*k)
		}
		if w>>g == 0 {
			for b := range g {
				bits = append(bits, byte(w>>b&1))
			}
			continue
		}
		for range (w & (1<<(g-1) - 1)) * g {
			bits = append(bits, byte(w>>(g-1)&1))
		}
	}
	if uint64(len(bits)) != (rows+g-1)/g*g {
		return nil
	}
	for _, b := range bits[rows:] {
		if b != 0 {
			return nil
		}
	}
	return bits[:rows:rows]
}

func TestFormatReader(t *testing.T) {
	float := &sample{rows: 5, word: 32}
	var keys []uint64
	for _, v := range []float64{-1.5, math.Inf(1), 0, 1e-300, math.Inf(-1)} {
		keys = append(keys, column.FloatKey(v))
	}
	float.add(column.Column{Name: "float", Type: column.Float, Encoding: column.Interval}, 5, keys, nil)
	for _, s := range []*sample{tiny(), second(), float, {word: 32}, {rows: 9, word: 64}, shapes(0, 64, 4), shapes(300, 32, 5), shapes(300, 64, 3), shapes(9000, 64, 6)} {
		s.checkReader(t, reader{s.image(t)})
	}
}

func (s *sample) checkReader(t *testing.T, r reader) {
	t.Helper()
	rows, word, columns := uint64(r.u32(24)), r.u32(28), r.u32(32)
	if r.u64(16) != uint64(len(r.data)) || rows != uint64(s.rows) || word != uint32(s.word) || int(columns) != len(s.columns) || r.u64(56) != 0 {
		t.Fatal("header")
	}
	var list []struct {
		Name, Type, Binning, Encoding, Base, Unit string
		Missing, Bins, Strings, Ranks             uint64
	}
	at, n := r.section(7)
	if err := json.Unmarshal(r.data[at:at+n], &list); err != nil || len(list) != len(s.columns) {
		t.Fatalf("columns: %v", err)
	}
	vectors, vectorsLen := r.section(0)
	table, _ := r.section(1)
	words, wordsLen := r.section(2)
	tiles, _ := r.section(3)
	bins, binsLen := r.section(4)
	strings, _ := r.section(5)
	offsets, _ := r.section(6)
	ranks, ranksLen := r.section(9)
	size, next, nextTile := uint64(word/8), uint64(0), uint64(0) // bytes; of the next vector and tile
	vector := func() []byte {
		off, words := r.u64(table), uint64(r.u32(table+8))
		if off*size != next || r.u32(table+12) != 0 {
			t.Fatalf("a vector at word %d, want byte %d", off, next)
		}
		table, next = table+16, (next+words*size+15)/16*16
		return r.vector(vectors+off*size, words, rows, word)
	}
	for i, c := range list {
		p := &s.columns[i]
		base, err := strconv.ParseUint(c.Base, 10, 64)
		if err != nil || c.Name != p.Name || c.Type != p.Type.String() || c.Encoding != p.Encoding.String() || c.Binning != p.Binning.String() {
			t.Fatalf("column %+v, %v", c, err)
		}
		for k := range c.Strings {
			if got := string(r.data[strings+r.u64(offsets+8*k) : strings+r.u64(offsets+8*k+8)]); got != p.Dictionary[k] {
				t.Fatalf("entry %d is %q", k, got)
			}
		}
		offsets += 8 * c.Strings
		unit := uint64(1)
		if c.Unit != "" {
			if unit, err = strconv.ParseUint(c.Unit, 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		key := func(code uint64) uint64 {
			if c.Ranks > 0 {
				return r.u64(ranks + 8*code)
			}
			return base + unit*code
		}

		var codes []uint64
		var has []bool
		for uint64(len(codes)) < rows {
			if 4*r.u64(tiles) != nextTile {
				t.Fatalf("a tile at word %d, want byte %d", r.u64(tiles), nextTile)
			}
			nextTile += 4 * uint64(r.u32(tiles+20))
			part, valued := r.tile(tiles, words)
			codes, has = append(codes, part...), append(has, valued...)
			tiles += 32
		}

		inBin := make([]uint64, rows) // n: none
		left := rows
		for row, code := range codes {
			if missing := p.missing != nil && p.missing[row]; missing == has[row] || has[row] && key(code) != p.keys[row] {
				t.Fatalf("column %q: row %d has key %d (%v)", c.Name, row, key(code), has[row])
			}
			for inBin[row] < c.Bins && code > r.u64(bins+24*inBin[row]+8) {
				inBin[row]++
			}
		}
		for k := range c.Bins {
			left -= uint64(r.u32(bins + 24*k + 16))
		}
		if left != c.Missing {
			t.Fatalf("column %q: %d rows are in no bin, %d missing", c.Name, left, c.Missing)
		}
		ranks, ranksLen = ranks+8*c.Ranks, ranksLen-8*c.Ranks
		bins, binsLen = bins+24*c.Bins, binsLen-24*c.Bins

		encoded, width := c.Bins, uint64(1)
		switch half := (c.Bins + 1) / 2; {
		case c.Encoding == "range":
			encoded = max(c.Bins, 1) - 1
		case c.Encoding == "interval" && c.Bins > 0:
			encoded, width = c.Bins-half+1, half
		}
		var sets [][]byte
		for range encoded {
			sets = append(sets, vector())
		}
		missing := make([]byte, rows)
		if c.Missing > 0 {
			missing = vector()
		}
		for row := range rows {
			if want := p.missing != nil && p.missing[row]; want != (missing[row] == 1) {
				t.Fatalf("column %q: row %d missing: %v", c.Name, row, want)
			}
			for v := range encoded {
				first := v
				if c.Encoding == "range" {
					first, width = 0, v+1
				}
				want := missing[row] == 0 && inBin[row] >= first && inBin[row] < first+width
				if want != (sets[v][row] == 1) {
					t.Fatalf("column %q: row %d in vector %d: %v", c.Name, row, v, !want)
				}
			}
		}
	}
	if next != vectorsLen || nextTile != wordsLen || binsLen != 0 || ranksLen != 0 {
		t.Errorf("%d bytes of vectors, %d of values and %d of bins are left", vectorsLen-next, wordsLen-nextTile, binsLen)
	}
	var meta struct{ Creator, Source string }
	at, n = r.section(8)
	if err := json.Unmarshal(r.data[at:at+n], &meta); err != nil || meta.Creator != s.meta.Creator || meta.Source != s.meta.Source {
		t.Errorf("meta is %s", r.data[at:at+n])
	}
}
