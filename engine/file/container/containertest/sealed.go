package containertest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var sealed = regexp.MustCompile(`"checksum": "([0-9a-f]{64})"\n}\n$`)

// WantSealed checks that data, a text of auxiliary.Seal, has the checksum that an independent computation
// gives, and that parse refuses each changed bit and each truncation.
func WantSealed(t testing.TB, data []byte, parse func(data []byte) error) {
	t.Helper()
	member := sealed.FindSubmatch(data)
	if member == nil {
		t.Fatalf("no checksum at the end:\n%s", data)
	}
	plain := bytes.Replace(data, member[1], []byte(strings.Repeat("0", 64)), 1)
	if want := fmt.Sprintf("%x", sha256.Sum256(plain)); string(member[1]) != want {
		t.Fatalf("checksum %s, want %s", member[1], want)
	}
	for i := range 8 * len(data) {
		bad := bytes.Clone(data)
		bad[i/8] ^= 1 << (i % 8)
		if parse(bad) == nil {
			t.Fatalf("bit %d changed without an error:\n%s", i, bad)
		}
	}
	for n := range len(data) - 1 { // the last byte is the end of the line
		if parse(data[:n]) == nil {
			t.Fatalf("%d bytes are enough", n)
		}
	}
}
