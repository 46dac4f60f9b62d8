package input

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"

	"heddle/engine/plan/testneeds"
)

var ctx = context.Background()

func encodeUTF16(t testing.TB, order unicode.Endianness, text string) string {
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
	testneeds.Sequential(t)
	text := strings.Repeat("café 漢字 𝄞\n", 1e5)
	for name, content := range map[string]string{
		"UTF-8": text, "marked UTF-8": Mark + text,
		"UTF-16LE": encodeUTF16(t, unicode.LittleEndian, text), "UTF-16BE": encodeUTF16(t, unicode.BigEndian, text),
	} {
		for _, c := range []string{content, zip(t, content), zstandard(t, content)} {
			if got, err := readAll(c, true); got != text || err != nil {
				t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(text), err)
			}
		}
	}
	for content, want := range map[string]string{
		"": "", "\xff": "\xff", "\xe9t\xe9": "\xe9t\xe9", "a\x00" + strings.Repeat("b", zeroShare): "a\x00" + strings.Repeat("b", zeroShare),
		"\xff\xfea\x00\x00\xd8b\x00c": "a\xed\xa0\x80b\xff", "WARCRAFT": "WARCRAFT", "PAR1 and more": "PAR1 and more", "BZh91": "BZh91",
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
		"name\t\x1b$B4A;z\x1b(B\n": "ISO-2022",
		"\x89HDL\r\n\x1a\n\x01":    "index file of heddle",
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
	for _, s := range []string{"text", zip(f, "text"), zstandard(f, "text"), bzipped, Mark + "text", encodeUTF16(f, unicode.BigEndian, "text")} {
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

// TestPlain: texts in other encodings and with other ends of lines are converted in memory, and
// compressed data is refused.
func TestPlain(t *testing.T) {
	long := strings.Repeat("café\n", 1e5)
	for content, want := range map[string]string{
		"": "", "a": "a", long: long, Mark + "a\nb": "a\nb", "a\r\nb": "a\r\nb", "a\rb\r": "a\nb\n", strings.ReplaceAll(long, "\n", "\r"): long,
		encodeUTF16(t, unicode.LittleEndian, long): long, encodeUTF16(t, unicode.BigEndian, "a\rb"): "a\nb",
	} {
		if got, err := Plain("-", []byte(content)); err != nil || string(got) != want {
			t.Errorf("%.20q: %d bytes of %d, %v", content, len(got), len(want), err)
		}
	}
	for content, want := range map[string]string{zip(t, "a"): "gzip data: unpack", zstandard(t, "a"): "zstd data: unpack", bzipped: "bzip2 data: unpack", "PK\x03\x04": "ZIP", "a\x00b\x00": "zero bytes"} {
		if _, err := Plain("-", []byte(content)); err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, ErrCorrupt) {
			t.Errorf("%.20q: error %v, want %s", content, err, want)
		}
	}
}

// TestSurrogates converts halves of surrogate pairs in each place, and half of a code unit,
// to invalid UTF-8 that InvalidByte describes.
func TestSurrogates(t *testing.T) {
	for content, want := range map[string]string{
		"\xfe\xff\xd8\x00":                 "\xed\xa0\x80",
		"\xfe\xff\xdf\xff\x00a":            "\xed\xbf\xbfa",
		"\xfe\xff\xd8\x00\xd8\x00\xdc\x00": "\xed\xa0\x80\U00010000",
		"\xfe\xff\xdc\x00\xd8\x00":         "\xed\xb0\x80\xed\xa0\x80",
		"\xfe\xff\xd8\x00\xdc":             "\xed\xa0\x80\xff",
		"\xfe\xff\xff\xfd":                 "\ufffd", // valid
		"\xfe\xff\x00":                     "\xff",
		"\xff\xfe":                         "",
	} {
		if got, err := readAll(content, true); got != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", content, got, err, want)
		}
	}
	// A character that the buffer cuts in two.
	text := strings.Repeat("x", Buffer/2-2) + strings.Repeat("𝄞", 3)
	if got, err := readAll(encodeUTF16(t, unicode.BigEndian, text), true); got != text || err != nil {
		t.Errorf("%d bytes of %d, %v", len(got), len(text), err)
	}
	for text, want := range map[string]string{
		"a\xed\xa0\x80": "invalid UTF-16: byte 1 of the document is half of a surrogate pair, U+D800",
		"a\xff":         "invalid UTF-16: the text ends within a character",
	} {
		if got := InvalidByte("document", []byte(text), true); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
	if got := InvalidByte("value", []byte("\ufffd\xed\xa0"), false); got != "invalid UTF-8: byte 3 of the value is 0xed" {
		t.Error(got)
	}
}

// TestEndLines makes LF of CR only where lines end in CR.
func TestEndLines(t *testing.T) {
	for content, want := range map[string][2]string{ // without and with quotes
		"a\rb\r":                            {"a\nb\n", "a\nb\n"},
		"a\r\nb":                            {"a\r\nb", "a\r\nb"},
		"a\rb\nc":                           {"a\rb\nc", "a\rb\nc"},
		"\"a\rb\"\rc":                       {"\"a\nb\"\nc", "\"a\rb\"\nc"},
		"a\r" + strings.Repeat("b", Buffer): {"a\n" + strings.Repeat("b", Buffer), "a\n" + strings.Repeat("b", Buffer)},
		"":                                  {},
	} {
		for i, quotes := range []bool{false, true} {
			o := &Opener{Ctx: ctx, Stdin: strings.NewReader(content)}
			r, err := o.Open("-")
			if err != nil {
				t.Fatal(err)
			}
			r.EndLines(quotes)
			if got, err := io.ReadAll(r); string(got) != want[i] || err != nil {
				t.Errorf("%.20q, quotes %v: %.20q, %v", content, quotes, got, err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// FuzzUTF16 compares with the decoder of the standard library, for input that comes in one
// piece and byte by byte.
func FuzzUTF16(f *testing.F) {
	for _, s := range []string{"a\x00\x00\xd8b", "\x00\xd8\x00\xdc\x00\xdc", "\xff\xfe", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		units := make([]uint16, len(content)/2)
		for i := range units {
			units[i] = binary.LittleEndian.Uint16(content[2*i:])
		}
		want := string(utf16.Decode(units))
		if len(content)%2 == 1 {
			want += "\xff"
		}
		for _, r := range []io.Reader{bytes.NewReader(content), iotest.OneByteReader(bytes.NewReader(content))} {
			b, err := io.ReadAll(Decode(io.MultiReader(strings.NewReader("\xff\xfe"), r)))
			if err != nil {
				t.Fatal(err)
			}
			var got []byte
			for len(b) > 0 {
				if _, ok := surrogate(b); ok {
					got, b = append(got, "\ufffd"...), b[3:]
				} else {
					got, b = append(got, b[0]), b[1:]
				}
			}
			if string(got) != want {
				t.Fatalf("%q: %q, want %q", content, got, want)
			}
		}
	})
}

// TestLongWindows1252 reads long texts whose characters take one to three bytes in UTF-8, at any place of the buffers.
func TestLongWindows1252(t *testing.T) {
	for n := range 3 {
		text := strings.Repeat("a", n) + strings.Repeat("\x80", 20_000) + "\x81\xe9"
		r := &Reader{Reader: bufio.NewReader(strings.NewReader(text))}
		if _, err := r.TextIn("a text", "windows-1252"); err != nil {
			t.Fatal(err)
		}
		want := strings.Repeat("a", n) + strings.Repeat("€", 20_000) + "\x81é"
		if got, err := io.ReadAll(r); err != nil || string(got) != want {
			t.Errorf("%d bytes, want %d: %v", len(got), len(want), err)
		}
	}
}
