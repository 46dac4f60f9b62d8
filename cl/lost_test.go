package cl

import (
	"errors"
	"testing"

	"heddle/cl/internal/device/devicetest"
	"heddle/cl/internal/lists"
	"heddle/engine/file/mapped/mappedtest"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// TestUploadOfLostPages: the driver never reads a mapped file, so a fault is an error of the
// upload, and the device goes on.
func TestUploadOfLostPages(t *testing.T) {
	testneeds.OneCaller(t)
	b, _ := devicetest.OpenFaulty(t, devicetest.Find(t, everything), devicetest.Find(t, everything).Tuning())
	words := mappedtest.Words(t, 1<<16, 4096)
	if m, err := b.LoadWords(t.Context(), words, "lists"); m != nil || !errors.Is(err, mappedtest.ErrLost) {
		t.Errorf("%v, %v", m, err)
	}
	src := &plan.Source{Words: words, Lists: []plan.List{{Words: uint32(len(words))}}}
	ranges, _, err := lists.Layout(src, b.Info.MaxAlloc, lists.MaxArenas)
	if err != nil {
		t.Fatal(err)
	}
	if a, err := lists.LoadArena(t.Context(), b, src, ranges); a != nil || !errors.Is(err, mappedtest.ErrLost) {
		t.Errorf("%v, %v", a, err)
	}
	m, err := b.LoadWords(t.Context(), words[:1024], "lists")
	if err != nil {
		t.Fatal(err)
	}
	m.Release()
}
