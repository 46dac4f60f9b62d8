package match

import "testing"

// TestRoomFor: memory for results that can be lent stays so when it grows.
func TestRoomFor(t *testing.T) {
	for _, c := range []struct{ words, want int }{
		{4, 5}, {1 << 20, 5 << 18}, {mostLent * 9 / 10, mostLent}, {mostLent, mostLent}, {mostLent + 4, (mostLent + 4) * 5 / 4},
	} {
		if got := roomFor(c.words); got != c.want {
			t.Errorf("%d words: room for %d, want %d", c.words, got, c.want)
		}
	}
}
