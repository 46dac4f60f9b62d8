package compress

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestTrain: the dictionary has the size that was asked for, does not depend on chance, and makes blocks like the
// samples shorter by a fifth. Samples of any kind give a dictionary that an encoder takes, or none.
func TestTrain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	records := func(n int) (blocks [][]byte) {
		for range n {
			var b []byte
			for range 20 {
				b = fmt.Appendf(b, `{"id":"item-%07d","stock":%v,"warehouse":"north-%d","supplier":"weaver %d and sons"}`, rng.IntN(1e7), rng.IntN(2) == 0, rng.IntN(50), rng.IntN(500))
			}
			blocks = append(blocks, b)
		}
		return blocks
	}
	samples := records(300)
	d := Train(samples, 16<<10)
	if len(d) < 14<<10 || len(d) > 17<<10 || !bytes.Equal(d, Train(samples, 16<<10)) {
		t.Fatalf("a dictionary of %d bytes", len(d))
	}
	size := func(opt ...zstd.EOption) (n int) {
		z, err := zstd.NewWriter(nil, opt...)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range records(100) {
			n += len(z.EncodeAll(b, nil))
		}
		return n
	}
	if with, without := size(zstd.WithEncoderDict(d)), size(); 5*with > 4*without {
		t.Errorf("%d bytes with the dictionary, %d without", with, without)
	}
	noise := make([]byte, 64<<10)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	for name, samples := range map[string][][]byte{"none": nil, "empty": {nil, {}}, "short": {[]byte("warp"), []byte("weft")}, "zeros": {make([]byte, 64<<10)}, "noise": {noise}} {
		if d := Train(samples, 1024); d != nil {
			if _, err := zstd.NewWriter(nil, zstd.WithEncoderDict(d)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
