package collections

import (
	"math/rand/v2"
	"testing"
)

// TestMemory bounds the memory that an addition of ten documents allocates: buffers follow the size of the
// input, or are used again.
func TestMemory(t *testing.T) {
	f := open(t)
	r := rand.New(rand.NewPCG(1, 2))
	const additions, most = 10, 3 << 20
	before := allocated().TotalAlloc
	for i := range additions {
		_, err := f.Add(t.Context(), "news", lines(r, 10*i, 10))
		must(t, err)
	}
	if each := (allocated().TotalAlloc - before) / additions; each > most {
		t.Errorf("an addition of 10 documents allocates %d bytes; at most %d are allowed", each, most)
	}
}
