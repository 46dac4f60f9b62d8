package compress

import (
	"testing"

	"pgregory.net/rapid"
)

func TestFront(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b []byte
		before := ""
		all := rapid.SliceOf(rapid.StringMatching("(warp){0,9}.{0,40}")).Draw(t, "strings")
		for _, s := range all {
			b = AppendFront(b, before, s)
			before = s
		}
		r := FrontReader{Rest: b}
		for i, s := range all {
			var ok bool
			if r, ok = r.Next(); !ok || string(r.Text) != s {
				t.Fatalf("string %d of %q is %q", i, all, r.Text)
			}
		}
		if _, ok := r.Next(); ok || len(r.Rest) > 0 {
			t.Fatalf("%q are left", r.Rest)
		}
	})
}

// TestFrontDamage reads bytes that AppendFront does not write.
func TestFrontDamage(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty":             {},
		"rest is missing":   {0x02, 'a'},
		"excess is missing": {0xf0},
		"excess is cut":     {0x0f, 0x80},
		"excess too large":  {0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
		"above the limit":   {0xf1, 0xf1, 0xff, 0x03, 'a'},
	} {
		if _, _, _, ok := ReadFront(b); ok {
			t.Errorf("%s: no error", name)
		}
	}
	if _, ok := (FrontReader{Rest: []byte{0x11, 'a'}}).Next(); ok {
		t.Error("a prefix of nothing is no error")
	}
	if shared, rest, _, ok := ReadFront([]byte{0xf1, 0xf0, 0xff, 0x03, 'a'}); !ok || shared != MaxString-1 || string(rest) != "a" {
		t.Errorf("at the limit: %d, %q, %v", shared, rest, ok)
	}
}
