package server

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// TestDrainKeepAlive drains a server whose 16 clients keep their connections, without and with a delay. The
// server ends each connection by its header or by GOAWAY after a reply, and no request fails.
func TestDrainKeepAlive(t *testing.T) {
	for _, delay := range []time.Duration{0, 100 * time.Millisecond} {
		a := attack(t, Options{DrainDelay: delay})
		var clients, ready sync.WaitGroup
		for i := range 16 {
			c := a.dial()
			ready.Add(1)
			clients.Go(func() {
				ask, text := askPlain, "HTTP/1.1"
				if i%4 == 3 {
					ask, text = startHTTP2(t, c), "HTTP/2"
				}
				in := bufio.NewReader(c)
				for n := range 1 << 30 { // up to the end of the connection
					last, err := ask(c, in, a.token)
					if err != nil {
						t.Errorf("delay %v, %s, request %d: %v", delay, text, n, err)
					}
					if n == 2 || n < 2 && (last || err != nil) {
						ready.Done()
					}
					if last || err != nil {
						return
					}
				}
			})
		}
		ready.Wait()
		a.Drain()
		clients.Wait()
	}
}

const red = `{"query":"red"}`

// askPlain sends a request on a connection that stays open, and reports whether the server ends it.
func askPlain(c net.Conn, in *bufio.Reader, token string) (last bool, err error) {
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", search, token, len(red), red)
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		return false, fmt.Errorf("%d %s, %v", resp.StatusCode, body, err)
	}
	return resp.Close, nil
}

// startHTTP2 opens HTTP/2 on a connection, and returns the function that sends a request.
func startHTTP2(t *testing.T, c net.Conn) func(net.Conn, *bufio.Reader, string) (bool, error) {
	var block bytes.Buffer
	encoder, id := hpack.NewEncoder(&block), uint32(1)
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		t.Error(err)
	}
	var f *http2.Framer
	return func(c net.Conn, in *bufio.Reader, token string) (last bool, err error) {
		if f == nil {
			f = http2.NewFramer(c, in)
			f.WriteSettings()
		}
		block.Reset()
		for _, field := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":authority", "localhost"}, {":path", search}, {"authorization", "Bearer " + token}} {
			encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
		}
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block.Bytes(), EndHeaders: true})
		f.WriteData(id, true, []byte(red))
		for ended := false; ; {
			frame, err := f.ReadFrame()
			if err != nil {
				return false, err
			}
			switch frame := frame.(type) {
			case *http2.DataFrame:
				ended = frame.StreamEnded()
			case *http2.RSTStreamFrame:
				return false, fmt.Errorf("stream %d ends with %v", frame.StreamID, frame.ErrCode)
			case *http2.GoAwayFrame:
				if last = true; frame.ErrCode != http2.ErrCodeNo {
					return false, fmt.Errorf("GOAWAY %v", frame.ErrCode)
				}
				if frame.LastStreamID < id { // the client sends the request elsewhere
					return true, nil
				}
			}
			if ended {
				id += 2
				return last, nil
			}
		}
	}
}
