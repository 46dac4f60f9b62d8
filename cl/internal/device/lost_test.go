package device

import (
	"errors"
	"runtime"
	"testing"

	"heddle/engine/file/mapped/mappedtest"
)

// TestLostPages: the fault of a mapped file is the error of InParallel.
func TestLostPages(t *testing.T) {
	words := mappedtest.Words(t, 1<<16, 4096)
	for _, work := range []int{0, 4096 * runtime.GOMAXPROCS(0)} {
		to := make([]uint32, len(words))
		err := InParallel(16, work, func(i int) error {
			copy(to[i<<12:], words[i<<12:][:1<<12])
			return nil
		})
		if !errors.Is(err, mappedtest.ErrLost) {
			t.Errorf("work %d: %v", work, err)
		}
	}
}
