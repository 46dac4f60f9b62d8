package query

import (
	"testing"

	"heddle/hostfallback"
)

// TestWall: the time of a call includes the work of pure Go for phrases.
func TestWall(t *testing.T) {
	x := zipfText(t, text{docs: 500, vocabulary: 100})
	host := hostfallback.New(hostfallback.Options{Threads: 1})
	defer host.Close()
	s, err := host.Load(t.Context(), x.Source)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, opt := range []Options{{K: 10}, {}, {CountOnly: true}} {
		b := batchOf(t, x, []string{`"1 2" "2 3"`, `3 AND "1 2"`}, opt)
		if err := b.Run(t.Context(), s, 0); err != nil || b.Stats().Wall <= 0 || b.Stats().PhraseCandidates == 0 {
			t.Errorf("%+v: %+v, %v", opt, b.Stats(), err)
		}
	}
}
