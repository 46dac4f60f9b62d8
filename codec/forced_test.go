package codec_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/codec"
	"heddle/codec/codectest"
)

// TestForced: lists with a forced fraction of exceptions decode to their docIDs and have
// the size that Size returns. More exceptions never widen the slots, and where a quarter of
// the gaps is large, a fraction above it removes their bits from the slots.
func TestForced(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 5))
	for _, id := range []codec.ID{codec.ParaPFor, codec.LRCPFor, codec.PFD, codec.NewPFD} {
		for _, g := range codectest.Generators() {
			docs := g.Gen(r, 700, 1<<28)
			for _, ratio := range []float64{0, 0.1, 0.3, 0.6} {
				opt := codec.Options{ExceptionRatio: ratio, Forced: true}
				words, err := codec.Append(nil, id, docs, opt)
				if err != nil {
					t.Fatalf("%v, %s, %.1f: %v", id, g.Name, ratio, err)
				}
				got, err := codec.List{Codec: id, Len: uint32(len(docs)), Words: words}.AppendTo(nil)
				if err != nil || !slices.Equal(got, docs) {
					t.Errorf("%v, %s, %.1f: other docIDs, %v", id, g.Name, ratio, err)
				}
				if size := codec.Size(id, docs, opt); size != len(words) {
					t.Errorf("%v, %s, %.1f: size %d, %d words", id, g.Name, ratio, size, len(words))
				}
			}
		}
		if id.Layout() != codec.GapLayout {
			continue
		}
		docs := make([]uint32, 1280)
		for i := range docs { // gaps of 2 and 3 bits, and small ones
			docs[i] = uint32(4*i + i/4*7)
		}
		var sizes []int
		for _, ratio := range []float64{0, 0.1, 0.3, 0.6} {
			sizes = append(sizes, codec.Size(id, docs, codec.Options{ExceptionRatio: ratio, Forced: true}))
		}
		if sizes[0] != sizes[1] || sizes[1] == sizes[2] {
			t.Errorf("%v: sizes %v with a quarter of large gaps", id, sizes)
		}
	}
}

// TestLambdas: each docID has a lambda, and the docIDs less their lambdas ascend like a line.
func TestLambdas(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 6))
	for _, id := range []codec.ID{codec.LRC, codec.LRCPFor, codec.LRCSeg, codec.SegLRC, codec.HSLRC128, codec.HSLRC256} {
		for _, g := range codectest.Generators() {
			docs := g.Gen(r, 2000, 1<<24)
			words, err := codec.Append(nil, id, docs, codec.DefaultOptions())
			if err != nil {
				t.Fatal(err)
			}
			v, err := codec.List{Codec: id, Len: uint32(len(docs)), Words: words}.Lines()
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for k := range v.Blocks() {
				lambdas, err := v.AppendLambdas(nil, k)
				if err != nil || len(lambdas) != v.Start(k+1)-v.Start(k) {
					t.Fatalf("%v, %s, block %d: %d lambdas, %v", id, g.Name, k, len(lambdas), err)
				}
				n += len(lambdas)
				for j := 1; j < len(lambdas); j++ { // the line rises by the same step, rounded
					a := int64(docs[v.Start(k)+j]) - int64(lambdas[j])
					b := int64(docs[v.Start(k)+j-1]) - int64(lambdas[j-1])
					if a < b {
						t.Fatalf("%v, %s, block %d: the line falls from %d to %d", id, g.Name, k, b, a)
					}
				}
			}
			if n != len(docs) || v.TableWords() > len(words) {
				t.Errorf("%v, %s: %d lambdas, %d words of tables of %d", id, g.Name, n, v.TableWords(), len(words))
			}
		}
	}
}
