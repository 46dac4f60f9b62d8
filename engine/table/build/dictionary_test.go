package build

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/table/read"
)

// drawTexts draws few and many texts, equal ones, long ones and the empty one.
func drawTexts(t *rapid.T) []string {
	one := rapid.OneOf(rapid.StringN(0, 3, -1), rapid.SampledFrom([]string{"", "a", "\x00", strings.Repeat("b", 3000)}))
	return rapid.SliceOfN(one, 0, 400).Draw(t, "values")
}

// TestDictionary compares numbers and order with a map, before and after a reset.
func TestDictionary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d dictionary
		for range 2 {
			d.reset()
			ids, rows := map[string]uint32{}, map[string]uint32{}
			for _, v := range drawTexts(t) {
				want, ok := ids[v]
				if !ok {
					want = uint32(len(ids))
					ids[v] = want
				}
				rows[v]++
				value := []byte(v)
				got, err := d.number(value)
				if err != nil || got != want {
					t.Fatalf("%q has number %d, %v, want %d", v, got, err, want)
				}
				d.entry(got).rows++
				clear(value) // the dictionary has a copy
			}
			var got []string
			for _, k := range d.sorted() {
				text := string(d.text(k.id))
				got = append(got, text)
				if id := ids[text]; id != k.id || d.entry(id).rows != rows[text] {
					t.Fatalf("%q has number %d with %d rows, want %d with %d", text, k.id, d.entry(id).rows, id, rows[text])
				}
			}
			if want := slices.Sorted(maps.Keys(ids)); !slices.Equal(got, want) {
				t.Fatalf("texts %q, want %q", got, want)
			}
		}
	})
}

// TestGenerations spills at random places, and compares the dictionary and the keys of the rows
// with the sorted texts.
func TestGenerations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file, err := newTemp("")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		b := builder{spool: file, opt: Options{Memory: 1 << 30}}
		c := &collected{Field: read.Field{Name: "c", Type: 2}, least: 1}
		b.columns = []*collected{c}
		var all []string
		var missing []bool
		for range rapid.IntRange(1, 6).Draw(t, "batches") {
			var v read.Values
			for _, text := range drawTexts(t) {
				v.Text = append(v.Text, text...)
				v.Ends = append(v.Ends, uint32(len(v.Text)))
				v.Missing = append(v.Missing, rapid.IntRange(0, 9).Draw(t, "missing") == 0)
				all, missing = append(all, text), append(missing, v.Missing[len(v.Missing)-1])
			}
			b.opt.Memory = rapid.SampledFrom([]uint64{1, 1 << 30}).Draw(t, "memory")
			batch := read.Batch{Rows: len(v.Ends), Columns: []read.Values{v}}
			if err := b.take(&batch); err != nil {
				t.Fatal(err)
			}
			b.rows += uint64(batch.Rows)
		}
		if err := c.unite(t.Context(), file); err != nil {
			t.Fatal(err)
		}
		distinct := map[string]bool{}
		for i, text := range all {
			if !missing[i] {
				distinct[text] = true
			}
		}
		want := slices.Sorted(maps.Keys(distinct))
		var got []string
		for text, err := range c.dictionary.all() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(text))
		}
		if !slices.Equal(got, want) || c.dictionary.n != uint64(len(want)) {
			t.Fatalf("dictionary %q of %d, want %q", got, c.dictionary.n, want)
		}
		var r blockReader
		for i := range c.blocks {
			keys, gone, err := r.read(file, &c.blocks[i])
			if err != nil {
				t.Fatal(err)
			}
			for k, key := range keys {
				row := int(c.blocks[i].first) + k
				if (gone != nil && gone[k]) != missing[row] || !missing[row] && !bytes.Equal([]byte(want[key]), []byte(all[row])) {
					t.Fatalf("row %d has key %d, %t; want %q, %t", row, key, gone, all[row], missing[row])
				}
			}
		}
		if s := c.keys.Sample(); !s.All || len(s.Keys) != len(want) {
			t.Fatalf("a sample of %d keys of %d", len(s.Keys), len(want))
		}
	})
}
