package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"heddle/engine/file/input"
)

// TestFullTemporaryDisk closes the temporary files of a builder: every later write fails,
// and the build reports it.
func TestFullTemporaryDisk(t *testing.T) {
	b, err := newBuilder(context.Background(), t.TempDir(), 1, false)
	if err != nil {
		t.Fatal(err)
	}
	b.tick = func(bool) {}
	if err := b.startList([]byte("a")); err != nil {
		t.Fatal(err)
	}
	if err := b.addPosting(0, 1); err != nil {
		t.Fatal(err)
	}
	if err := b.checkMemory(); err != nil || len(b.runs) != 1 {
		t.Fatalf("the first spill: %v", err)
	}
	_ = b.spilt.Close()
	long := bytes.Repeat([]byte("x"), 60000)
	for i := range uint32(20) {
		if err = b.startList(fmt.Append(long, i)); err != nil {
			break
		}
		if err := b.addPosting(i, 1); err != nil {
			t.Fatal(err)
		}
	}
	if !errors.Is(err, os.ErrClosed) {
		t.Errorf("spilling: %v", err)
	}
	_ = b.names.Close()
	for err = nil; err == nil; {
		err = b.addDocument(long, 1)
	}
	if !errors.Is(err, os.ErrClosed) {
		t.Errorf("adding documents: %v", err)
	}
}

// closes counts its ends.
type closes int

func (c *closes) Close() error { *c++; return nil }

// TestCloseInputs: inputs that stay open for the merge are closed with the builder.
func TestCloseInputs(t *testing.T) {
	b, err := newBuilder(context.Background(), t.TempDir(), 1, false)
	if err != nil {
		t.Fatal(err)
	}
	var c closes
	for range 2 {
		b.open = append(b.open, &pisa{docs: &source{r: &input.Reader{Closer: &c}}})
	}
	if err := b.close(); err != nil || c != 2 {
		t.Errorf("%v, %d of 2 inputs closed", err, c)
	}
}
