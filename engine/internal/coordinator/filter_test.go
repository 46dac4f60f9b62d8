package coordinator

import (
	"reflect"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/internal/filter"
	"heddle/engine/internal/layout"
)

// TestFilterParts: the parts of a filter on shards have the documents of the whole.
func TestFilterParts(t *testing.T) {
	f := &filter.Filter{Docs: []uint32{9, 0, 4}, Bitmap: roaring.BitmapOf(3, 4, 9)}
	var docs, bits []uint64
	for _, s := range []layout.Shard{{First: 0, Docs: 4}, {First: 4}, {First: 4, Docs: 6}} {
		part := FilterOf(f, &s)
		for _, id := range part.Docs {
			docs = append(docs, s.First+uint64(id))
		}
		for id := range roaring.Values(part.Bitmap) {
			bits = append(bits, s.First+uint64(id))
		}
	}
	if !reflect.DeepEqual(docs, []uint64{0, 9, 4}) || !reflect.DeepEqual(bits, []uint64{3, 4, 9}) {
		t.Errorf("documents %d and %d", docs, bits)
	}
}
