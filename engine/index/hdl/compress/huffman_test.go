package compress

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestHuffman(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var counts [256]uint64
		letters := rapid.SliceOfNDistinct(rapid.Byte(), 1, 256, rapid.ID).Draw(t, "letters")
		for i, s := range letters {
			// Counts that double would give codes of up to 255 bits.
			counts[s] = 1 << rapid.IntRange(0, min(i, 50)).Draw(t, "log of count")
		}
		lengths := CodeLengths(counts)
		for s, n := range counts {
			if (n > 0) != (lengths[s] > 0) || lengths[s] > MaxCode {
				t.Fatalf("byte %d occurs %d times, its code has %d bits", s, n, lengths[s])
			}
		}
		h, ok := NewHuffman(lengths)
		if !ok {
			t.Fatalf("no code has the lengths %v", lengths)
		}
		src := rapid.SliceOf(rapid.SampledFrom(letters)).Draw(t, "source")
		got, ok := h.Decode(nil, h.Append(nil, src))
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
		if _, ok := NewHuffman(lengths); ok {
			t.Errorf("%s: no error", name)
		}
	}
	h, ok := NewHuffman([256]uint8{'a': 2})
	if !ok {
		t.Fatal("a code with gaps is refused")
	}
	if got, ok := h.Decode(nil, []byte{0x01}); ok {
		t.Errorf("bits without a byte gave %q", got)
	}
	if got, ok := h.Decode(nil, []byte{0}); !ok || string(got) != "aaaa" {
		t.Errorf("four times a: %q, %v", got, ok)
	}
}

// TestHuffmanEnds: a part of a symbol of eight bits or more is no filling.
func TestHuffmanEnds(t *testing.T) {
	var lengths [256]uint8
	for s := range 13 {
		lengths[s] = uint8(min(s+1, MaxCode))
	}
	h, ok := NewHuffman(lengths)
	if !ok {
		t.Fatal("no code")
	}
	for _, c := range []struct {
		src []byte
		ok  bool
	}{{[]byte{0xff, 0xef}, true}, {[]byte{0xff}, false}, {[]byte{0xff, 0xff, 0xff, 0xff}, false}, {[]byte{0x7f}, true}} {
		if got, ok := h.Decode(nil, c.src); ok != c.ok {
			t.Errorf("%x: %q, %v", c.src, got, ok)
		}
	}
}
