package containertest

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"heddle/engine/file/container"
)

// File is an open file of a format.
type File interface {
	Verify(ctx context.Context) error
	Size() int64
	Close() error
}

// Open opens the file at path until the test ends.
func Open[F File](t testing.TB, path string, open func(path string) (F, error)) F {
	t.Helper()
	f, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// Concurrent reads f, by check and by Verify, on several goroutines.
func Concurrent(t *testing.T, f File, check func()) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(check)
		wg.Go(func() {
			if err := f.Verify(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// Close closes f twice.
func Close(t *testing.T, f File) {
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// VerifyCancelled verifies f under a context that is done.
func VerifyCancelled(t *testing.T, f File) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := f.Verify(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Verify with a cancelled context: %v", err)
	}
}

// BenchmarkOpen opens and verifies the file at path.
func BenchmarkOpen[F File](b *testing.B, path string, checked, trusted func(path string) (F, error)) {
	for name, open := range map[string]func(string) (F, error){"checked": checked, "trusted": trusted} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f, err := open(path)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(f.Size())
				if err := f.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("verify", func(b *testing.B) {
		f := Open(b, path, checked)
		b.SetBytes(f.Size())
		for b.Loop() {
			if err := f.Verify(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Edited opens an image after edits: each three bytes of edits are an offset and a value,
// resize is added to its length. Deep opening, which verifies all bytes, must fail for the edited
// image. With corrected checksums it may succeed, but nothing may panic, and every error is a
// CorruptError or the error of another version. open itself reads the content of an image that
// opens.
func Edited(t *testing.T, image, edits []byte, resize int, open func(data []byte, deep bool) error) {
	data := slices.Clone(image)
	resize %= len(data) + 1
	data = append(data, make([]byte, max(resize, 0))...)[:len(data)+resize]
	for ; len(edits) >= 3; edits = edits[3:] {
		if i := int(edits[0]) | int(edits[1])<<8; i < len(data) {
			data[i] = edits[2]
		}
	}
	if slices.Equal(data, image) {
		return
	}
	WantCorrupt(t, open(data, true), "x")
	Repair(data)
	for _, deep := range []bool{true, false} {
		if err := open(data, deep); err != nil && !errors.Is(err, container.ErrVersion) {
			WantCorrupt(t, err, "x")
		}
	}
}

// Examples compares the examples in FORMAT.md, marked as examples of a test, with images;
// with update it writes them.
func Examples(t *testing.T, update bool, images ...[]byte) {
	text, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	const mark, fence = "<!-- the example below is checked by TestFormatExample -->\n```\n", "```\n"
	made, rest := "", string(text)
	for _, image := range images {
		before, after, found := strings.Cut(rest, mark)
		example, after, closed := strings.Cut(after, fence)
		if !found || !closed {
			t.Fatal("FORMAT.md has lost an example")
		}
		want := Hexdump(image)
		made += before + mark + want + fence
		if rest = after; example != want && !update {
			t.Errorf("an example in FORMAT.md is not what the Writer makes; if the change is meant, raise Version and run go test -update. Made:\n%s", want)
		}
	}
	if update {
		if err := os.WriteFile("FORMAT.md", []byte(made+rest), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
