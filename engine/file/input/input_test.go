package input

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func zip(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOpen reads files and standard input, gzipped or not, with a mark or without.
func TestOpen(t *testing.T) {
	text := strings.Repeat("some text\n", 1e5)
	for _, content := range []string{"", "x", "\x1f", Mark, text, Mark + text, zip(t, ""), zip(t, text), zip(t, Mark+text)} {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if n := Size(path); n != int64(len(content)) {
			t.Errorf("size %d of %d bytes", n, len(content))
		}
		want := content
		if strings.HasPrefix(content, "\x1f\x8b") {
			z, err := gzip.NewReader(strings.NewReader(content))
			if err != nil {
				t.Fatal(err)
			}
			all, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			want = string(all)
		}
		for _, p := range []string{path, "-"} {
			o := &Opener{Ctx: t.Context(), Stdin: strings.NewReader(content)}
			r, err := o.Open(p)
			if err != nil {
				t.Fatal(err)
			}
			marked := r.SkipMark() > 0
			got, err := io.ReadAll(r)
			if err != nil || marked != strings.HasPrefix(want, Mark) || string(got) != strings.TrimPrefix(want, Mark) {
				t.Errorf("%s: %d bytes of %d, mark %v, error %v", p, len(got), len(want), marked, err)
			}
			if o.Count() != int64(len(content)) {
				t.Errorf("%s: %d of %d bytes counted", p, o.Count(), len(content))
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestExplain tells damage of the input from errors of the system.
func TestExplain(t *testing.T) {
	whole := zip(t, strings.Repeat("some text\n", 1e5))
	flipped := []byte(whole)
	flipped[len(whole)-5] ^= 1 // damages the checksum
	for content, want := range map[string]string{
		whole[:len(whole)/2]:        "truncated gzip data",
		string(flipped):             "damaged gzip data: its content does not have the checksum that it states",
		whole + "\x1f\x8bno header": "damaged gzip data: a part does not begin with a header",
		whole + "xx":                "damaged gzip data: other bytes follow its end",
		whole[:100] + strings.Repeat("\xff", 100) + whole[200:]: "damaged gzip data: a block is invalid",
	} {
		o := &Opener{Ctx: t.Context(), Stdin: strings.NewReader(content)}
		r, err := o.Open("-")
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, r)
		err = Explain("-", 7, err)
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, ErrCorrupt) || e.Offset != 7 || !strings.Contains(e.Error(), "-: byte 7: "+want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	o := &Opener{Ctx: t.Context(), Stdin: strings.NewReader("\x1f\x8bno gzip header")}
	if _, err := o.Open("-"); !errors.Is(err, ErrCorrupt) {
		t.Errorf("error %v", err)
	}
	if _, err := o.Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) || errors.Is(err, ErrCorrupt) {
		t.Errorf("error %v", err)
	}
	if err := Explain("x", 0, context.Canceled); err != context.Canceled {
		t.Errorf("error %v", err)
	}
	for want, e := range map[string]Error{"x:3: bad": {"x", 3, 9, "bad"}, "x: byte 9: bad": {"x", 0, 9, "bad"}, "x: bad": {"x", 0, -1, "bad"}} {
		if e.Error() != want {
			t.Errorf("%q, want %q", e.Error(), want)
		}
	}
}

// TestPrompt cancels a read from a silent standard input.
func TestPrompt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, w := io.Pipe()
	defer w.Close()
	go func() {
		w.Write([]byte("one line\n"))
		cancel()
	}()
	o := &Opener{Ctx: ctx, Stdin: in}
	r, err := o.Open("-")
	if err == nil {
		_, err = io.ReadAll(r)
	}
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want %v", err, context.Canceled)
	}
}
