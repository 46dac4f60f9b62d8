package lookup

import (
	"errors"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/hosttest"
)

// TestSupports: the host searches lists of every codec and refuses unknown ones.
func TestSupports(t *testing.T) {
	for _, id := range codec.IDs() {
		if err := Supports(hosttest.Source(t, 10, []codec.ID{id}, []uint32{1, 2})); err != nil {
			t.Error(err)
		}
	}
	for _, id := range []codec.ID{0, 200, 255} {
		src := hosttest.Source(t, 10, []codec.ID{codec.Raw}, []uint32{1, 2})
		src.Lists[0].Codec = id
		if err := Supports(src); !errors.Is(err, plan.ErrUnsupported) {
			t.Errorf("codec %d: %v", id, err)
		}
	}
}
