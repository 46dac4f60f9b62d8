package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
)

// TestFullTemporaryDisk closes the temporary files of a builder: every later write fails,
// and the build reports it.
func TestFullTemporaryDisk(t *testing.T) {
	b, err := newBuilder(context.Background(), t.TempDir(), 1, false)
	if err != nil {
		t.Fatal(err)
	}
	b.tick = func(bool) {}
	if err := b.StartList([]byte("a")); err != nil {
		t.Fatal(err)
	}
	if err := b.AddPosting(0, 1); err != nil {
		t.Fatal(err)
	}
	if err := b.checkMemory(); err != nil || len(b.runs) != 1 {
		t.Fatalf("the first spill: %v", err)
	}
	_ = b.spilt.Close()
	long := bytes.Repeat([]byte("x"), 60000)
	for i := range uint32(20) {
		if err = b.StartList(fmt.Append(long, i)); err != nil {
			break
		}
		if err := b.AddPosting(i, 1); err != nil {
			t.Fatal(err)
		}
	}
	if !errors.Is(err, os.ErrClosed) {
		t.Errorf("spilling: %v", err)
	}
	_ = b.names.Close()
	for err = nil; err == nil; {
		err = b.AddDocument(long, 1)
	}
	if !errors.Is(err, os.ErrClosed) {
		t.Errorf("adding documents: %v", err)
	}
}
