package records

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

// TestLargeBody: a body is unpacked up to the limit.
func TestLargeBody(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(bytes.Repeat([]byte("x"), 1000)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	block := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n" + packed.String()
	if kind, body := httpBody([]byte(block), 100); kind != "text/plain" || string(body) != strings.Repeat("x", 100) {
		t.Errorf("%s, %d unpacked bytes", kind, len(body))
	}
}
