package hdb

import (
	"context"
	"fmt"
	"testing"
)

// TestRoundTrip writes and reads every shape at lengths around groups, segments and
// pieces.
func TestRoundTrip(t *testing.T) {
	for _, word := range []int{32, 64} {
		for _, rows := range []int{0, 1, word - 2, word - 1, word, 127, 128, 129, 1000, pieceLen - 1, pieceLen, pieceLen + 1} {
			t.Run(fmt.Sprintf("%d/%d", word, rows), func(t *testing.T) {
				s := shapes(rows, word, 4)
				path := s.build(t)
				f := mustOpen(t, path)
				s.check(t, f)
				if err := f.Verify(context.Background()); err != nil {
					t.Fatal(err)
				}
				trusted, err := OpenTrusted(path)
				if err != nil {
					t.Fatal(err)
				}
				defer trusted.Close()
				s.check(t, trusted)
				if trusted.Checksum() != f.Checksum() {
					t.Error("the checksum changes from open to open")
				}
			})
		}
	}
}
