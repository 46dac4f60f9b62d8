package cluster

import (
	"context"
	"errors"
	"testing"

	"heddle/engine"
)

// TestDescribe: an index whose shard does not answer is not ready, and an unknown name is an error.
func TestDescribe(t *testing.T) {
	m := place(t, newEngine(t), corpus(30), []int{0, 10, 10, 30}, 1)
	c := New(m, m, Options{})
	x, err := c.Index(t.Context(), "x")
	if err != nil || !x.GetReady() || x.GetDocs() != 30 || x.GetLists() == 0 || x.GetChecksum() == "" {
		t.Fatalf("%v, %v", x, err)
	}
	if _, err := c.Table(t.Context(), "x"); engine.CodeOf(err) != engine.NotFound {
		t.Errorf("an index as a table: %v", err)
	}
	m.set("n2", func(context.Context) error { return errors.New("broken") })
	if x, err := c.Index(t.Context(), "x"); err != nil || x.GetReady() || x.GetName() != "x" {
		t.Errorf("%v, %v", x, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Index(ctx, "x"); engine.CodeOf(err) != engine.Canceled {
		t.Errorf("canceled: %v", err)
	}
}
