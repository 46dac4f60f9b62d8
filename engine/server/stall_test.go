package server

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"heddle/engine"
	"heddle/engine/plan/testneeds"
)

// TestStalledClients connects clients that stop in the middle: one reads none of a large answer,
// and one of HTTP/2 answers no ping. The server ends both in time, and drains without waiting for them. A
// client that reads slowly gets its whole answer.
func TestStalledClients(t *testing.T) {
	testneeds.VirtualTime(t, func(t *testing.T) {
		r := runAt(t, newPipes(), engine.Options{Backend: "host"}, Options{Timeout: time.Second, Stall: 200 * time.Millisecond, Limits: Limits{Documents: 1 << 24}})
		r.loadRows(1_000_000)
		at := newPipes()
		done := r.listenAt(t.Context(), at)
		dialed := func() net.Conn {
			c, err := at.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			return c
		}

		const body = `{"where":"days > 30"}`
		ask := func(c net.Conn) {
			fmt.Fprintf(c, "POST /v1/tables/loans/select HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
		}
		ask(dialed())
		began := time.Now()
		ended := func() bool {
			n, err := testutil.GatherAndCount(r.registry, "heddle_http_request_duration_seconds")
			return err == nil && n == 1
		}
		for !ended() { // up to the time-out of the test
			time.Sleep(10 * time.Millisecond)
		}
		if took := time.Since(began); took > 300*time.Millisecond {
			t.Errorf("a client that does not read is cut after %v, want 200 ms", took)
		}
		var sent float64
		metrics := httptest.NewRecorder()
		r.AdminHandler().ServeHTTP(metrics, httptest.NewRequest("GET", "http://localhost/metrics", nil))
		_, line, _ := strings.Cut(metrics.Body.String(), `heddle_http_response_bytes_total{route="POST /v1/tables/{table}/select"} `)
		if _, err := fmt.Sscan(line, &sent); err != nil || sent >= 6_800_000 {
			t.Errorf("%v bytes were sent to a client that does not read, %v", sent, err)
		}

		steady := dialed() // each part in time, all of them in more than the time-out of a request
		ask(steady)
		var text bytes.Buffer
		for part := make([]byte, 64<<10); ; time.Sleep(100 * time.Millisecond) {
			n, err := io.ReadFull(steady, part)
			text.Write(part[:n])
			if err != nil {
				break
			}
		}
		if took := time.Since(began); text.Len() < 6_800_000 || took < 5*time.Second {
			t.Errorf("a steady client got %d bytes in %v", text.Len(), took)
		}

		silent := dialed()
		fmt.Fprint(silent, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00") // an empty frame SETTINGS
		got, _ := io.ReadAll(silent)
		const ping = "\x00\x00\x08\x06\x00\x00\x00\x00\x00" // header of a frame PING
		if !bytes.Contains(got, []byte(ping)) {
			t.Errorf("the server sends no ping: %q", got)
		}
		r.Drain()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
