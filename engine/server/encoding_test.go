package server

import (
	"bytes"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// TestEncodings sends compressed, damaged and unknown bodies to plain routes.
func TestEncodings(t *testing.T) {
	r := run(t, Options{Limits: Limits{Body: 1000}})
	zip := func(kind, text string) string {
		var b bytes.Buffer
		switch kind {
		case "gzip":
			w := gzip.NewWriter(&b)
			w.Write([]byte(text))
			w.Close()
		case "zstd":
			w, _ := zstd.NewWriter(&b)
			w.Write([]byte(text))
			w.Close()
		default:
			b.WriteString(text)
		}
		return b.String()
	}
	const query = `{"query":"red","k":1}`
	for _, path := range []string{"/v1/indexes/looms/search", "/v1/indexes/looms/search/batch"} {
		for _, kind := range []string{"gzip", "zstd", "identity", "GZIP"} {
			header := "Content-Encoding: " + kind
			kind = strings.ToLower(kind)
			if got := r.do("POST", path, zip(kind, query), header); got.status != 200 || !strings.Contains(got.body, `"hits":[{"doc":`) {
				t.Errorf("%s in %s: %d %s", path, kind, got.status, got.body)
			}
			if _, got := r.problem("POST", path, zip(kind, strings.Repeat(" ", 2000)+query), header); got.Status != 413 || got.Limit != "body" {
				t.Errorf("%s in %s, large: %+v", path, kind, got)
			}
			if kind == "identity" {
				continue
			}
			if _, got := r.problem("POST", path, query, header); got.Status != 400 {
				t.Errorf("%s, not in %s: %+v", path, kind, got)
			}
		}
		if _, got := r.problem("POST", path, query, "Content-Encoding: br"); got.Status != 415 || got.Code != "invalid_option" || !strings.Contains(got.Detail, `"br"`) {
			t.Errorf("%s in br: %+v", path, got)
		}
	}
}
