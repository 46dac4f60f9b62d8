package input

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// bzipped is "some text\n" three times, by the program bzip2.
const bzipped = "BZh91AY&SY>\xbd\xe0,\x00\x00\x0aQ\x80\x00\x10@\x00\x02\x02\x8c@ \x00\x22\xbf\xd5#\x1a\x840#^[\xack\x11\x11\xf1w$S\x85\x09\x03\xeb\xde\x02\xc0"

// bzippedEmpty is no byte.
const bzippedEmpty = "BZh9\x17rE8P\x90\x00\x00\x00\x00"

func zstandard(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b)
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func readAll(content string, text bool) (string, error) {
	o := &Opener{Ctx: ctx, Stdin: strings.NewReader(content)}
	r, err := o.Open("-")
	if err != nil {
		return "", err
	}
	if text {
		if _, err := r.Text("-"); err != nil {
			return "", errors.Join(err, r.Close())
		}
	}
	all, err := io.ReadAll(r)
	return string(all), errors.Join(Explain("-", int64(len(all)), err), r.Close())
}

// TestCompressions reads each format, several streams in a row too, and finds damage at
// every byte.
func TestCompressions(t *testing.T) {
	text := strings.Repeat("some text\n", 3)
	for name, whole := range map[string]string{"gzip": zip(t, text), "zstd": zstandard(t, text), "bzip2": bzipped} {
		for _, c := range []struct{ content, want string }{{whole, text}, {whole + whole, text + text}} {
			if got, err := readAll(c.content, false); got != c.want || err != nil {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
		for n := magicSize; n < len(whole); n++ {
			if _, err := readAll(whole[:n], false); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), name+" data") {
				t.Errorf("%s, %d bytes: error %v", name, n, err)
			}
		}
		if _, err := readAll(whole[:len(whole)-3]+"\xff\xff\xff", false); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s with another end: error %v", name, err)
		}
	}
	z, zeros := zip(t, text), strings.Repeat("\x00", 1000)
	for name, c := range map[string]struct{ content, want string }{
		"zeros": {z + zeros, text}, "members and zeros": {z + z + zeros, text + text}, "zeros between": {z + zeros + z, text + text}, "an empty member": {zip(t, "") + z + "\x00", text},
	} {
		if got, err := readAll(c.content, false); got != c.want || err != nil {
			t.Errorf("gzip, %s: %d bytes, %v", name, len(got), err)
		}
	}
	for junk, want := range map[string]string{"junk": "other bytes follow its end", zeros + "a long junk": "other bytes follow its end", z[:5]: "truncated"} {
		if _, err := readAll(z+junk, false); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), want) {
			t.Errorf("gzip with %q behind it: %v, want %s", junk, err, want)
		}
	}
	for name, empty := range map[string]string{"gzip": zip(t, ""), "zstd": zstandard(t, "") + "\x50\x2a\x4d\x18\x01\x00\x00\x00x", "bzip2": bzippedEmpty, "skippable": "\x5f\x2a\x4d\x18\x01\x00\x00\x00x"} {
		if got, err := readAll(empty, false); got != "" || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// failing reads some bytes and then fails.
type failing struct{ r io.Reader }

var errDisk = errors.New("disk fault")

func (f failing) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err == io.EOF {
		err = errDisk
	}
	return n, err
}

// TestSystemError: an error of the system within compressed data is no damage.
func TestSystemError(t *testing.T) {
	text := strings.Repeat("some text\n", 3)
	for _, whole := range []string{zip(t, text), zstandard(t, text), bzipped} {
		o := &Opener{Ctx: t.Context()}
		r, err := o.Wrap("x", failing{strings.NewReader(whole[:len(whole)-1])}, io.NopCloser(nil))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(r)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if !errors.Is(Explain("x", 0, err), errDisk) || errors.Is(Explain("x", 0, err), ErrCorrupt) {
			t.Errorf("error %v", err)
		}
	}
}

// TestFind finds a file by its name without the suffix of its compression.
func TestFind(t *testing.T) {
	base := filepath.Join(t.TempDir(), "x.docs")
	for _, suffix := range []string{".bz2", ".zst", ".gz", ""} {
		if err := os.WriteFile(base+suffix, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, ok := Find(base); got != base+suffix || !ok {
			t.Errorf("found %s, %v", got, ok)
		}
		if got := TrimSuffix(base + suffix); got != base {
			t.Errorf("trimmed %s", got)
		}
	}
	if got, ok := Find(base + "2"); got != base+"2" || ok {
		t.Errorf("found %s, %v", got, ok)
	}
}
