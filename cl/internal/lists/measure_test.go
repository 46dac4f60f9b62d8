package lists

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// gapsOf returns the content of a list of a gap codec, see Decode.
func gapsOf(docs []uint32) []uint32 {
	gaps := slices.Clone(docs)
	for i := len(gaps) - 1; i > 0; i-- {
		gaps[i] -= gaps[i-1] + 1
	}
	return gaps
}

// TestDecode compares the docIDs and the gaps of every codec with the encoded lists.
func TestDecode(t *testing.T) {
	testneeds.OneCaller(t)
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, b *device.Runtime) {
		for _, id := range decodedCodecs {
			src := &plan.Source{Docs: 1<<32 - 1}
			var postings [][]uint32
			for i, g := range codectest.Generators() {
				for _, n := range []int{0, 1, 300, 2500} {
					docs := g.List(uint64(i), n, 1<<16)
					if _, err := src.Append(id, docs, codec.Options{ExceptionRatio: 0.3, RPFDLevels: i % 5}); err != nil {
						t.Fatal(err)
					}
					postings = append(postings, docs)
				}
			}
			for _, gaps := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v, gaps %t", id, gaps), func(t *testing.T) {
					got, times, err := Decode(t.Context(), b, src, gaps, 2)
					if gaps && Lookup(id)&UseGaps == 0 {
						if !errors.Is(err, plan.ErrUnsupported) {
							t.Fatalf("a codec without gaps: %v", err)
						}
						return
					}
					if err != nil || len(got) != len(postings) || len(times) != 0 {
						t.Fatalf("%d lists of %d, %d times: %v", len(got), len(postings), len(times), err)
					}
					for h, want := range postings {
						if gaps {
							want = gapsOf(want)
						}
						if !slices.Equal(got[h], want) {
							t.Errorf("list %d of %d docIDs: %d, want %d", h, len(want), got[h], want)
						}
					}
				})
			}
		}
	})
}

// TestDecodeNothing decodes no lists, an empty list, and a codec without a decoder.
func TestDecodeNothing(t *testing.T) {
	testneeds.OneCaller(t)
	b := devicetest.OpenRow(t, devicetest.Find(t, ops), devicetest.Find(t, ops).Tuning(), true)
	for _, c := range []struct {
		id    codec.ID
		lists int
		want  error
	}{{codec.Rice, 0, nil}, {codec.Rice, 1, nil}, {codec.Raw, 1, plan.ErrUnsupported}} {
		src := &plan.Source{Docs: 10}
		for range c.lists {
			if _, err := src.Append(c.id, nil, codec.DefaultOptions()); err != nil {
				t.Fatal(err)
			}
		}
		if got, _, err := Decode(t.Context(), b, src, false, 1); !errors.Is(err, c.want) || err == nil && len(got) != c.lists {
			t.Errorf("%d empty lists of %v: %d lists, %v", c.lists, c.id, len(got), err)
		}
	}
	src := &plan.Source{Docs: 10}
	if _, err := src.Append(codec.Rice, []uint32{1, 2, 5}, codec.DefaultOptions()); err != nil {
		t.Fatal(err)
	}
	got, times, err := Decode(t.Context(), b, src, true, 3)
	if err != nil || len(times) != 3 || !slices.Equal(got[0], []uint32{1, 0, 2}) {
		t.Errorf("gaps %d, %d times: %v", got, len(times), err)
	}
}
