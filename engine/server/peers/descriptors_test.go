package peers

import (
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// TestFit: all connections fit the limit of open files, with a warning where the setting does not.
func TestFit(t *testing.T) {
	for _, c := range []struct {
		limit     uint64
		listeners int
		want      int
	}{
		{0, 1, 4096}, {1 << 20, 2, 4096}, {4096 + 64, 1, 4096}, {4096 + 63, 1, 4095}, {1024, 1, 960}, {1024, 2, 480}, {64, 1, 32}, {64, 2, 16}, {3, 2, 1},
	} {
		var log strings.Builder
		got := fit(4096, c.listeners, c.limit, zerolog.New(&log))
		if got != c.want || (c.want < 4096) != strings.Contains(log.String(), "ulimit -n") {
			t.Errorf("%+v: %d, %s", c, got, log.String())
		}
	}
}
