package container

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

func TestChecksum(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	b := make([]byte, 2*crcChunk+12345)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	for _, n := range []int{0, 1, 7, crcChunk - 1, crcChunk, crcChunk + 1, 2 * crcChunk, len(b)} {
		got, err := Checksum(b[:n])
		if want := crc32.Checksum(b[:n], castagnoli); err != nil || got != want {
			t.Errorf("%d bytes: %08x, want %08x, %v", n, got, want, err)
		}
	}
	for range 200 {
		end := rng.IntN(5000)
		cut := rng.IntN(end + 1)
		got := crcCombine(crc32.Checksum(b[:cut], castagnoli), crc32.Checksum(b[cut:end], castagnoli), uint64(end-cut))
		if want := crc32.Checksum(b[:end], castagnoli); got != want {
			t.Errorf("%d and %d bytes: %08x, want %08x", cut, end-cut, got, want)
		}
	}
}

func TestParallelError(t *testing.T) {
	for range 50 {
		err := Parallel(100, func(i int) error {
			if i%7 == 5 {
				return fmt.Errorf("%d", i)
			}
			return nil
		})
		if err == nil || err.Error() != "5" {
			t.Fatalf("got %v, want the error of 5", err)
		}
	}
}
