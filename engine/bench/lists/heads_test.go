package lists

import (
	"math"
	"slices"
	"testing"

	"heddle/codec"
)

// TestFindWithout: the search without H finds the docIDs of the list and no others.
func TestFindWithout(t *testing.T) {
	var docs []uint32
	for i := range uint32(3000) {
		docs = append(docs, 7*i+i%5)
	}
	words, err := codec.Append(nil, codec.LRC, docs, codec.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	v, err := codec.List{Codec: codec.LRC, Len: uint32(len(docs)), Words: words}.Lines()
	if err != nil {
		t.Fatal(err)
	}
	line := codec.FitLine(docs)
	for x := uint32(0); x < docs[len(docs)-1]+20; x++ {
		_, want := slices.BinarySearch(docs, x)
		if got := findWithout(&v, line, x); got != want {
			t.Fatalf("docID %d: found %v, want %v", x, got, want)
		}
	}
}

// TestBucketSizes: shares add up to one, and documents at random are distributed
// binomially.
func TestBucketSizes(t *testing.T) {
	var docs []uint32
	for i := range uint32(6000) {
		docs = append(docs, i*175+i*i%97)
	}
	found, binomial := bucketSizes([][]uint32{docs}, 1_053_372)
	sum := func(all []float64) (s float64) {
		for _, x := range all {
			s += x
		}
		return s
	}
	if math.Abs(sum(found)-1) > 1e-9 || math.Abs(sum(binomial)-1) > 1e-6 {
		t.Errorf("sums %v and %v", sum(found), sum(binomial))
	}
	// 65,536 docIDs a bucket and one document in 175: 374 a bucket.
	mode := slices.Index(binomial, slices.Max(binomial)) * bucketStep
	if mode < 350 || mode > 384 || found[368/bucketStep] < 0.9 {
		t.Errorf("binomial mode %d, shares %v", mode, found)
	}
}
