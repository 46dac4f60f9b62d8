package codec

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestDescriptors checks that each descriptor is complete and that its fields
// agree with the functions that it describes.
func TestDescriptors(t *testing.T) {
	names := map[string]bool{}
	for _, id := range ids {
		d := id.Describe()
		switch {
		case d.Name != strings.ToLower(d.Name) || names[d.Name] || d.Alias != "" && names[d.Alias]:
			t.Errorf("%v: name %q or alias %q is not in lower case or not unique", id, d.Name, d.Alias)
		case d.Stores == "" || d.encode == nil || d.size == nil || d.decodeTime <= 0 || d.probeTime <= 0:
			t.Errorf("%v: the descriptor lacks a field: %+v", id, d)
		case d.Layout == UnknownLayout || d.Layout > LineLayout:
			t.Errorf("%v has layout %d", id, d.Layout)
		case d.Device >= DeviceKinds:
			t.Errorf("%v has device kind %d", id, d.Device)
		case (d.Layout == LineLayout) != (d.Device == DeviceLines || d.Device == DeviceLRCPFor) && d.Device != DeviceNone:
			t.Errorf("%v has layout %d and device kind %d", id, d.Layout, d.Device)
		case d.Hashed && d.Layout != LineLayout:
			t.Errorf("%v has hash buckets but no lines", id)
		}
		names[d.Name], names[d.Alias] = true, true

		var b Blocks
		if err := b.Open(encode(t, id, []uint32{1, 5}, DefaultOptions())); err != nil || b.layout != d.Layout {
			t.Errorf("%v: Open gives layout %d and %v", id, b.layout, err)
		}
	}
	for _, id := range []ID{0, ID(len(table)), 255} {
		if id.Layout() != UnknownLayout || id.Device() != DeviceNone || id.Describe().Name != "" {
			t.Errorf("codec number %d has a descriptor", id)
		}
		if _, err := Append(nil, id, []uint32{1}, Options{}); err == nil || Size(id, []uint32{1}, Options{}) != 0 {
			t.Errorf("codec number %d encodes: %v", id, err)
		}
	}
}

// TestDescribedOptions checks that options change the words of the codecs that
// declare to read them, and of no other.
func TestDescribedOptions(t *testing.T) {
	var docs []uint32
	docID := uint32(0)
	for i := range uint32(4000) {
		docID += 1 + i%7
		if i%11 == 0 {
			docID += 1 << (8 + i%9)
		}
		docs = append(docs, docID)
	}
	changes := func(id ID, a, b Options) bool {
		return !slices.Equal(encode(t, id, docs, a).Words, encode(t, id, docs, b).Words)
	}
	for _, id := range ids {
		d := id.Describe()
		if got := changes(id, Options{}, Options{ExceptionRatio: 0.3}); got != d.UsesRatio {
			t.Errorf("%v: the exception ratio changes words: %v; the descriptor says %v", id, got, d.UsesRatio)
		}
		if got := changes(id, Options{}, Options{RPFDLevels: 2}); got != d.UsesLevels {
			t.Errorf("%v: the levels change words: %v; the descriptor says %v", id, got, d.UsesLevels)
		}
	}
}

// TestGoldenCodecs checks that every codec has golden vectors.
func TestGoldenCodecs(t *testing.T) {
	var text strings.Builder
	for _, name := range []string{"lists.txt", "gaps.txt", "linecodecs.txt"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(data)
	}
	for _, id := range ids {
		if !strings.Contains(text.String(), "\ncodec: "+id.String()+"\n") {
			t.Errorf("no golden vector of %v in testdata", id)
		}
	}
}
