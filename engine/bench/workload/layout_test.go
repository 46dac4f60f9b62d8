package workload

import (
	"context"
	"errors"
	"slices"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
)

func TestEncode(t *testing.T) {
	w := workload(t, Clustered)
	for _, layout := range Layouts() {
		src, err := w.Encode(context.Background(), layout, codec.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		if err := src.Validate(); err != nil {
			t.Fatalf("%v: %v", layout, err)
		}
		used := make(map[codec.ID]int)
		var docs []uint32
		for h, l := range src.Lists {
			used[l.Codec]++
			if h%8 != 0 && l.Len < 10_000 {
				continue
			}
			if docs, err = src.List(plan.Handle(h)).AppendTo(docs[:0]); err != nil {
				t.Fatalf("%v, list %d: %v", layout, h, err)
			}
			if !slices.Equal(docs, w.List(plan.Handle(h))) {
				t.Fatalf("%v: list %d decodes to something else", layout, h)
			}
		}
		if layout != LayoutAuto && layout != LayoutBitset && (len(used) != 1 || used[codec.ID(layout)] == 0) {
			t.Errorf("%v uses codecs %v", layout, used)
		}
		if layout == LayoutBitset && (len(used) != 2 || used[codec.Raw] == 0 || used[codec.Bitset] == 0) || layout == LayoutAuto && len(used) < 3 {
			t.Errorf("%v uses codecs %v", layout, used)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := w.Encode(ctx, LayoutAuto, codec.DefaultOptions()); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancelling: %v", err)
	}
}

func TestParseLayout(t *testing.T) {
	for _, l := range Layouts() {
		if got, err := ParseLayout(l.String()); err != nil || got != l {
			t.Errorf("%v: %v, %v", l, got, err)
		}
	}
	if _, err := ParseLayout("rle"); err == nil {
		t.Error("rle: no error")
	}
}
