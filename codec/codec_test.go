package codec

import (
	"slices"
	"testing"
)

func TestParseID(t *testing.T) {
	for _, id := range IDs() {
		if got, err := ParseID(id.String()); err != nil || got != id {
			t.Errorf("ParseID(%q) = %v, %v", id.String(), got, err)
		}
	}
	if got, err := ParseID("ParaPFor"); err != nil || got != ParaPFor {
		t.Errorf("ParseID(ParaPFor) = %v, %v", got, err)
	}
	if _, err := ParseID("vbyte"); err == nil || err.Error() != `codec: unknown codec "vbyte" (one of raw, parapfor, bitset)` {
		t.Errorf("ParseID(vbyte): %v", err)
	}
}

func TestSmoke(t *testing.T) {
	for _, id := range IDs() {
		for n := range 300 {
			var docs []uint32
			for i := range n {
				docs = append(docs, uint32(i*i+i%3))
			}
			words, err := Append(nil, id, docs, DefaultOptions())
			if err != nil {
				t.Fatal(err)
			}
			l := List{id, uint32(n), words}
			got, err := l.AppendTo(nil)
			if err != nil || !slices.Equal(got, docs) || l.Validate() != nil || len(words) != Size(id, docs, DefaultOptions()) {
				t.Fatalf("%v %d: %v %v", id, n, err, got)
			}
		}
	}
}
