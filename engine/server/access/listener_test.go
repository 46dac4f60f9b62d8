package access

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// lines receives the lines of a log.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// TestLevels: a caller without a token that breaks HTTP/2 leaves a message of level debug, a fault of the server
// a message of level error.
func TestLevels(t *testing.T) {
	guard, err := Open(Files{})
	if err != nil {
		t.Fatal(err)
	}
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	logged := make(lines, 10)
	faulty := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a fault") })
	s := guard.Server(faulty, false, time.Minute, new(zerolog.New(logged)))
	go Serve(s, at)
	defer s.Close()
	for _, c := range [][2]string{
		{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x01\x04\x00\x00\x00\x00\x00\x00", `{"level":"debug","message":"http2: `}, // settings of one byte
		{"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", `{"level":"error","message":"http: panic serving `},
	} {
		conn, err := net.Dial("tcp", at.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, c[0])
		io.Copy(io.Discard, conn) // up to the end of the connection
		conn.Close()
		if line := <-logged; !strings.HasPrefix(line, c[1]) {
			t.Errorf("%q logs %s, want %s", c[0], line, c[1])
		}
	}
}
