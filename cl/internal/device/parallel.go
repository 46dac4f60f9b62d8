package device

import (
	"math/bits"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"heddle/engine/file/mapped"
)

// InParallel calls f for 0 to n-1, on several cores if there is much work, and returns the
// first error. After an error it starts no further calls. The fault of a mapped file is an
// error.
func InParallel(n, work int, f func(i int) error) error {
	workers := min(runtime.GOMAXPROCS(0), n, 1+work/4096)
	if workers <= 1 {
		return sequential(n, f)
	}
	var next atomic.Int64
	var failed atomic.Bool
	var g errgroup.Group
	for range workers {
		g.Go(func() (err error) {
			defer func() {
				if err != nil {
					failed.Store(true)
				}
			}()
			defer mapped.Catch(mapped.Watch(), &err)
			for i := int(next.Add(1)) - 1; i < n && !failed.Load(); i = int(next.Add(1)) - 1 {
				if err := f(i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

func sequential(n int, f func(i int) error) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	for i := range n {
		if err := f(i); err != nil {
			return err
		}
	}
	return nil
}

// copyPiece is the number of words that one goroutine copies. To copy 1 MiB takes longer
// than to start a goroutine.
const copyPiece = 1 << 18

// AppendWords is append with several cores for long copies: docIDs come from memory that
// no cache holds, and one core cannot fetch as fast as a device sends. Capacities are powers
// of two: callers reuse the memory for batches whose results differ in size, and fresh memory
// costs page faults.
func AppendWords(to, words []uint32) []uint32 {
	at, end := len(to), len(to)+len(words)
	if end > cap(to) {
		to = append(make([]uint32, 0, 1<<bits.Len(uint(end-1))), to...)
	}
	to = to[:end]
	copyWords(to[at:], words, copyPiece)
	return to
}

// copyWords copies words to dst in pieces, each on a goroutine of its own.
func copyWords(dst, words []uint32, piece int) {
	if len(words) <= piece {
		copy(dst, words)
		return
	}
	var g errgroup.Group
	for ; len(words) > piece; dst, words = dst[piece:], words[piece:] {
		d, s := dst, words[:piece]
		g.Go(func() error {
			copy(d, s)
			return nil
		})
	}
	copy(dst, words)
	_ = g.Wait()
}
