package collections

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// TestFollowRetry: a state that cannot be opened is opened later, without a change of its manifest. One
// message tells the failure.
func TestFollowRetry(t *testing.T) {
	e := newEngine(t)
	dir, w := create(t)
	must(t, add(w, []string{"a\theaven"}))
	var log strings.Builder
	c := New(map[string]string{"books": dir}, "test", zerolog.New(&log))
	defer c.Close()
	must(t, c.Load(t.Context(), e))
	check := func(docs uint64) {
		t.Helper()
		manifests := []string{manifestOf(dir)}
		again := c.changed(t.Context(), manifests)
		if again != nil && !slices.Equal(c.changed(t.Context(), again), manifests) { // before the time of the next attempt
			t.Errorf("again %v", again)
		}
		c.all["books"].retry = time.Time{}
		if m, err := c.Map(t.Context(), "books"); err != nil || m.Docs != docs {
			t.Errorf("%v, %v, want %d documents", m, err, docs)
		}
	}
	check(1)
	must(t, add(w, []string{"b\theaven"}))
	file := filepath.Join(dir, w.Manifest().Segments[1].File)
	must(t, os.Rename(file, file+".hidden"))
	check(1)
	check(1)
	must(t, os.Rename(file+".hidden", file))
	check(2)
	if n := strings.Count(log.String(), "stays in service"); n != 1 {
		t.Errorf("%d messages: %s", n, log.String())
	}
}
