package hdl

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// family draws strings that share prefixes of all lengths, also of lengths that take more than one byte.
func family(t *rapid.T) []string {
	stem := strings.Repeat("warp", rapid.IntRange(0, 9).Draw(t, "stem"))
	return rapid.SliceOf(rapid.Custom(func(t *rapid.T) string {
		return stem[:rapid.IntRange(0, len(stem)).Draw(t, "shared")] + rapid.StringN(-1, -1, 40).Draw(t, "rest")
	})).Draw(t, "strings")
}

func TestFront(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b []byte
		before := ""
		all := family(t)
		for _, s := range all {
			b = appendFront(b, before, s)
			before = s
		}
		r := frontReader{rest: b}
		for i, s := range all {
			var ok bool
			if r, ok = r.next(); !ok || string(r.text) != s {
				t.Fatalf("string %d of %q is %q", i, all, r.text)
			}
		}
		if _, ok := r.next(); ok || len(r.rest) > 0 {
			t.Fatalf("%q are left", r.rest)
		}
	})
}

// TestFrontDamage reads bytes that appendFront does not write.
func TestFrontDamage(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty":             {},
		"rest is missing":   {0x02, 'a'},
		"excess is missing": {0xf0},
		"excess is cut":     {0x0f, 0x80},
		"excess too large":  {0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
		"above the limit":   {0xf1, 0xf1, 0xff, 0x03, 'a'},
	} {
		if _, _, _, ok := readFront(b); ok {
			t.Errorf("%s: no error", name)
		}
	}
	if _, ok := (frontReader{rest: []byte{0x11, 'a'}}).next(); ok {
		t.Error("a prefix of nothing is no error")
	}
	if shared, rest, _, ok := readFront([]byte{0xf1, 0xf0, 0xff, 0x03, 'a'}); !ok || shared != maxString-1 || string(rest) != "a" {
		t.Errorf("at the limit: %d, %q, %v", shared, rest, ok)
	}
}

func TestHuffman(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var counts [256]uint64
		letters := rapid.SliceOfNDistinct(rapid.Byte(), 1, 256, rapid.ID).Draw(t, "letters")
		for i, s := range letters {
			// Counts that double would give codes of up to 255 bits.
			counts[s] = 1 << rapid.IntRange(0, min(i, 50)).Draw(t, "log of count")
		}
		lengths := codeLengths(counts)
		for s, n := range counts {
			if (n > 0) != (lengths[s] > 0) || lengths[s] > maxCode {
				t.Fatalf("byte %d occurs %d times, its code has %d bits", s, n, lengths[s])
			}
		}
		h, ok := newHuffman(lengths)
		if !ok {
			t.Fatalf("no code has the lengths %v", lengths)
		}
		src := rapid.SliceOf(rapid.SampledFrom(letters)).Draw(t, "source")
		got, ok := h.decode(nil, h.append(nil, src))
		if !ok || !bytes.HasPrefix(got, src) || len(got) > len(src)+7 {
			t.Fatalf("%q became %q, %v", src, got, ok)
		}
	})
}

// TestHuffmanDamage: lengths without a code, and bits without a byte.
func TestHuffmanDamage(t *testing.T) {
	for name, set := range map[string]map[byte]uint8{
		"too many codes": {'a': 1, 'b': 1, 'c': 12},
		"too long":       {'a': 13},
	} {
		var lengths [256]uint8
		for s, n := range set {
			lengths[s] = n
		}
		if _, ok := newHuffman(lengths); ok {
			t.Errorf("%s: no error", name)
		}
	}
	h, ok := newHuffman([256]uint8{'a': 2})
	if !ok {
		t.Fatal("a code with gaps is refused")
	}
	if got, ok := h.decode(nil, []byte{0x01}); ok {
		t.Errorf("bits without a byte gave %q", got)
	}
	if got, ok := h.decode(nil, []byte{0}); !ok || string(got) != "aaaa" {
		t.Errorf("four times a: %q, %v", got, ok)
	}
}
