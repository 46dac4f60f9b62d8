package input

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

var ctx = context.Background()

func utf16(t testing.TB, order unicode.Endianness, text string) string {
	t.Helper()
	s, err := unicode.UTF16(order, unicode.UseBOM).NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestText converts text with a byte order mark, in compressed inputs too, and leaves
// other text unchanged.
func TestText(t *testing.T) {
	text := strings.Repeat("café 漢字 𝄞\n", 1e5)
	for name, content := range map[string]string{
		"UTF-8": text, "marked UTF-8": Mark + text,
		"UTF-16LE": utf16(t, unicode.LittleEndian, text), "UTF-16BE": utf16(t, unicode.BigEndian, text),
	} {
		for _, c := range []string{content, zip(t, content), zstandard(t, content)} {
			if got, err := readAll(c, true); got != text || err != nil {
				t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(text), err)
			}
		}
	}
	for content, want := range map[string]string{
		"": "", "\xff": "\xff", "\xe9t\xe9": "\xe9t\xe9", "a\x00" + strings.Repeat("b", zeroShare): "a\x00" + strings.Repeat("b", zeroShare),
		"\xff\xfea\x00\x00\xd8b\x00c": "a\ufffdb\ufffd", "WARCRAFT": "WARCRAFT", "PAR1 and more": "PAR1 and more", "BZh91": "BZh91",
	} {
		if got, err := readAll(content, true); got != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", content, got, err, want)
		}
	}
}

// TestRefused refuses formats by their first bytes, and names them.
func TestRefused(t *testing.T) {
	tar := "name.txt" + strings.Repeat("\x00", 249) + "ustar"
	for content, want := range map[string]string{
		"WARC/1.1\r\nWARC-Type: warcinfo": "WARC", zip(t, "WARC/1.0\r\n"): "WARC", "%PDF-1.7": "PDF", "PK\x03\x04rest": "ZIP",
		"PAR1\x15\x04": "Parquet", "\xfd7zXZ\x00": "xz", zip(t, zip(t, "x")): "gzip data inside", zstandard(t, zstandard(t, "x")): "zstd data inside",
		"\xff\xfe\x00\x00a\x00\x00\x00": "UTF-32", "\x00\x00\xfe\xff\x00\x00\x00a": "UTF-32", "a\x00b\x00c\x00\n\x00": "UTF-16 without", tar: "tar archive",
		"\x89HDL\r\n\x1a\n\x01": "index file of heddle",
	} {
		_, err := readAll(content, true)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: error %v, want %s", content, err, want)
		}
	}
}

// FuzzText opens any bytes as text. Every error is about the content, and UTF-8 without
// a mark comes back as it is.
func FuzzText(f *testing.F) {
	for _, s := range []string{"text", zip(f, "text"), zstandard(f, "text"), bzipped, Mark + "text", utf16(f, unicode.BigEndian, "text")} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		got, err := readAll(string(content), true)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("error %v", err)
		}
		if err == nil && len(content) > 0 && content[0] < utf8.RuneSelf && content[0] != 0x1f && content[0]>>4 != 5 && content[0] != 'B' && content[0] != '(' && got != string(content) {
			t.Fatalf("%q from %q", got, content)
		}
	})
}
