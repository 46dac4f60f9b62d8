package access

import (
	"bytes"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/rs/zerolog"
)

// receiveBuffer bounds the bytes of bodies that a connection of HTTP/2 holds before handlers read them.
const receiveBuffer = 256 << 10

// Server returns a server of HTTP/1.1 and HTTP/2 for a listener of the service or of administration,
// with TLS if there is a certificate. A client has the time stall for the headers of a request. A
// connection of HTTP/2 whose client does not answer pings for that time ends, and buffers at most
// receiveBuffer bytes of bodies. Faults of connections appear in to at level debug: a caller without a token
// causes as many as it likes.
func (g *Guard) Server(h http.Handler, admin bool, stall time.Duration, to *zerolog.Logger) *http.Server {
	secure := g.TLS(admin)
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(secure != nil)
	protocols.SetUnencryptedHTTP2(secure == nil)
	return &http.Server{
		Handler: h, Protocols: protocols, TLSConfig: secure, ErrorLog: log.New(faults{to}, "", 0),
		HTTP2:             &http.HTTP2Config{SendPingTimeout: stall, PingTimeout: stall, MaxReceiveBufferPerConnection: receiveBuffer, MaxReceiveBufferPerStream: receiveBuffer},
		ReadHeaderTimeout: stall, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
}

// Serve answers the requests of a listener until s ends.
func Serve(s *http.Server, l net.Listener) error {
	if s.TLSConfig != nil {
		return s.ServeTLS(l, "", "")
	}
	return s.Serve(l)
}

// faults gives the messages of package net/http a level.
type faults struct{ to *zerolog.Logger }

func (f faults) Write(line []byte) (int, error) {
	level := zerolog.DebugLevel
	for _, own := range []string{"http: panic", "http2: panic", "http: Accept"} { // no fault of a caller
		if bytes.HasPrefix(line, []byte(own)) {
			level = zerolog.ErrorLevel
		}
	}
	f.to.WithLevel(level).Msg(string(bytes.TrimSpace(line)))
	return len(line), nil
}
