package topics

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"heddle/engine/file/input"
	"heddle/engine/index/trec"
)

// TestEach checks that all queries arrive in order, in batches of at most the read-ahead.
func TestEach(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "q%d\tred loom\n", i)
	}
	path := filepath.Join(t.TempDir(), "q.tsv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text.String())
	zipped := filepath.Join(t.TempDir(), "q.gz")
	if err = errors.Join(err, z.Close(), os.WriteFile(zipped, b.Bytes(), 0o600), os.WriteFile(zipped+"cut", b.Bytes()[:b.Len()/2], 0o600)); err != nil {
		t.Fatal(err)
	}
	err = File{Path: zipped + "cut"}.Each(t.Context(), 7, func(context.Context, []trec.Topic) error { return nil })
	if !errors.Is(err, input.ErrCorrupt) || !strings.Contains(err.Error(), "truncated gzip data") {
		t.Errorf("half of a file: %v", err)
	}
	for _, f := range []File{
		{Path: zipped, Reading: trec.Reading{Format: trec.Auto}},
		{Path: path, Reading: trec.Reading{Format: trec.Auto}},
		{Path: "-", Reading: trec.Reading{Format: trec.Auto}, Stdin: strings.NewReader(text.String())},
		{Path: "-", Reading: trec.Reading{Format: trec.Auto}, Stdin: iotest.OneByteReader(strings.NewReader(text.String()))},
	} {
		n := 0
		err := f.Each(t.Context(), 7, func(_ context.Context, qs []trec.Topic) error {
			if len(qs) < 1 || len(qs) > 7 {
				t.Errorf("a batch of %d queries", len(qs))
			}
			for _, q := range qs {
				if want := fmt.Sprintf("q%d", n); q.ID != want {
					t.Errorf("query %s, want %s", q.ID, want)
				}
				n++
			}
			return nil
		})
		if err != nil || n != 1000 {
			t.Errorf("%s: %d queries, %v", f.Path, n, err)
		}
	}
}

// TestEachErrors checks that Each returns the first error and does not wait for input.
func TestEachErrors(t *testing.T) {
	broken := errors.New("broken")
	never, w := io.Pipe() // a terminal without input
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	accept := func(context.Context, []trec.Topic) error { return nil }
	for name, test := range map[string]struct {
		file   File
		answer func(context.Context, []trec.Topic) error
		want   error
	}{
		"missing":   {File{Path: filepath.Join(t.TempDir(), "none")}, accept, os.ErrNotExist},
		"read":      {File{Path: "-", Stdin: io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(broken))}, accept, broken},
		"answer":    {File{Path: "-", Stdin: io.MultiReader(strings.NewReader("a\nb\n"), never)}, func(context.Context, []trec.Topic) error { return broken }, broken},
		"cancelled": {File{Path: "-", Stdin: io.MultiReader(strings.NewReader("a\nb\n"), never)}, func(context.Context, []trec.Topic) error { cancel(); return nil }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			test.file.Reading.Format = trec.Plain
			use := t.Context()
			if name == "cancelled" {
				use = ctx
			}
			if err := test.file.Each(use, 4, test.answer); !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
}
