package otlp

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestNew sends a span to a collector.
func TestNew(t *testing.T) {
	got := make(chan []byte, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL, err)
		}
		got <- body
	}))
	defer collector.Close()
	p, flush, err := New(t.Context(), collector.URL+"/v1/traces", func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	_, span := p.Tracer("test").Start(t.Context(), "a query of books")
	span.End()
	if err := flush(); err != nil {
		t.Fatal(err)
	}
	if body := <-got; !bytes.Contains(body, []byte("a query of books")) {
		t.Errorf("%d bytes without the name of the span", len(body))
	}
}

// TestNewFails gives the provider a collector that refuses spans.
func TestNewFails(t *testing.T) {
	collector := httptest.NewServer(http.NotFoundHandler())
	defer collector.Close()
	lost := 0
	p, flush, err := New(t.Context(), collector.URL, func(error) { lost++ })
	if err != nil {
		t.Fatal(err)
	}
	_, span := p.Tracer("test").Start(t.Context(), "a query")
	span.End()
	if err := flush(); err != nil || lost != 1 {
		t.Errorf("%d errors of lost spans, %v", lost, err)
	}
}
