package codec

import (
	"math/rand/v2"
	"testing"

	"heddle/codec/codectest"
)

func TestFindIn(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	for _, id := range ids {
		for _, g := range codectest.Generators() {
			docs := g.Gen(r, 1000, 1<<20)
			words, err := Append(nil, id, docs, DefaultOptions())
			if err != nil {
				t.Fatal(err)
			}
			var b Blocks
			if err := b.Open(List{Codec: id, Len: uint32(len(docs)), Words: words}); err != nil {
				t.Fatal(err)
			}
			for i, x := range docs {
				lo, hi := r.IntN(i+1), i+1+r.IntN(len(docs)-i)
				if k := b.FindIn(x, lo, hi); k != b.Find(x) {
					t.Fatalf("%v, %s: docID %d in %d to %d: block %d, Find says %d", id, g.Name, i, lo, hi, k, b.Find(x))
				}
				if j, k := b.FindIn(x, i, i), b.FindIn(x, hi, lo); j != b.Count() || k != j {
					t.Fatalf("%v, %s: blocks %d and %d of %d for no index at all", id, g.Name, j, k, b.Count())
				}
			}
		}
	}
}
