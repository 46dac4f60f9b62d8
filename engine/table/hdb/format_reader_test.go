package hdb

import (
	"encoding/binary"
	"encoding/json"
	"math"
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

// bitString reads width bits from bit at on of the words at byte offset.
func (r reader) bitString(offset, at, width uint64) (v uint64) {
	for k := range width {
		v |= uint64(r.u32(offset+(at+k)/32*4)>>((at+k)%32)&1) << k
	}
	return v
}

// packed decodes n packed values from byte offset on, of so many words.
func (r reader) packed(offset, words, n uint64) (values []uint64) {
	segments := (n + 127) / 128
	payloads := offset + 8*segments
	end := payloads
	for s := range segments {
		cnt := min(n-128*s, 128)
		payload, h := payloads+4*uint64(r.u32(offset+8*s)), uint64(r.u32(offset+8*s+4))
		if payload != end {
			return nil
		}
		b, hb, ib, en := h&63, h>>6&63, h>>12&15, h>>16&255
		first := len(values)
		for i := range cnt {
			values = append(values, r.bitString(payload, i*b, b))
		}
		exceptions := payload + (cnt*b+31)/32*4
		for j := range en {
			index := r.bitString(exceptions, j*ib, ib)
			values[first+int(index)] |= r.bitString(exceptions, en*ib+j*hb, hb) << b
		}
		end = exceptions + (en*(ib+hb)+31)/32*4
	}
	if end != offset+4*words {
		return nil
	}
	return values
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
		Name, Type, Binning, Encoding, Base string
		Missing, Bins, Strings              uint64
	}
	at, n := r.section(7)
	if err := json.Unmarshal(r.data[at:at+n], &list); err != nil || len(list) != len(s.columns) {
		t.Fatalf("columns: %v", err)
	}
	vectors, vectorsLen := r.section(0)
	table, _ := r.section(1)
	packed, packedLen := r.section(2)
	values, _ := r.section(3)
	bins, binsLen := r.section(4)
	strings, _ := r.section(5)
	offsets, _ := r.section(6)
	size, next, nextList := uint64(word/8), uint64(0), uint64(0) // bytes; of the next vector and list
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

		codes := make([]uint64, rows)
		for half := range uint64(2) {
			off, words := r.u64(values+16*half), r.u64(values+16*half+8)
			if words == 0 && off == 0 {
				continue // no rows, or no upper halves
			}
			if 4*off != nextList {
				t.Fatalf("values at word %d, want byte %d", off, nextList)
			}
			nextList = (nextList + 4*words + 15) / 16 * 16
			list := r.packed(packed+4*off, words, rows)
			for row := range codes {
				codes[row] |= list[row] << (32 * half)
			}
		}
		values += 32

		inBin := make([]uint64, rows) // n: none
		left := rows
		for row, code := range codes {
			if code != p.code(row) {
				t.Fatalf("column %q: row %d has code %d, want %d", c.Name, row, code, p.code(row))
			}
			if missing := p.missing != nil && p.missing[row]; !missing && base+code != p.keys[row] {
				t.Fatalf("column %q: row %d has key %d", c.Name, row, base+code)
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
	if next != vectorsLen || nextList != packedLen || binsLen != 0 {
		t.Errorf("%d bytes of vectors, %d of values and %d of bins are left", vectorsLen-next, packedLen-nextList, binsLen)
	}
	var meta struct{ Creator, Source string }
	at, n = r.section(8)
	if err := json.Unmarshal(r.data[at:at+n], &meta); err != nil || meta.Creator != s.meta.Creator || meta.Source != s.meta.Source {
		t.Errorf("meta is %s", r.data[at:at+n])
	}
}
