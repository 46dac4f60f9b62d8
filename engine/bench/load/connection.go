package load

import (
	"cmp"
	"crypto/tls"
	"net/http"

	"heddle/engine"
	"heddle/engine/api"
)

// Connection says how to reach a server. The zero value is HTTP/1.1 without a token, with the
// authorities of the system.
type Connection struct {
	// Token is sent with every request.
	Token string
	// CA is a file of authorities, in PEM, that replace the authorities of the system.
	CA string
	// Cert and Key are the files of the certificate of the client.
	Cert, Key string
	// HTTP2 sends many requests at a time over a connection.
	HTTP2 bool
	// Connections is the largest number of connections. Further requests wait for one.
	// Default: 4096.
	Connections int
}

// Client returns a client of the server at a URL. It repeats no request.
func (o Connection) Client(url string) (*api.Client, error) {
	settings, err := o.tls()
	if err != nil {
		return nil, &engine.Error{Code: engine.InvalidOption, Op: "load", Err: err}
	}
	most := cmp.Or(o.Connections, 4096)
	t := &http.Transport{
		TLSClientConfig: settings, DisableCompression: true,
		MaxConnsPerHost: most, MaxIdleConnsPerHost: most, Protocols: new(http.Protocols),
	}
	t.Protocols.SetHTTP1(!o.HTTP2)
	t.Protocols.SetHTTP2(o.HTTP2)
	t.Protocols.SetUnencryptedHTTP2(o.HTTP2)
	return api.NewClient(url, api.ClientOptions{HTTP: &http.Client{Transport: t}, Retries: -1, Token: o.Token})
}

func (o Connection) tls() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CA != "" {
		var err error
		if c.RootCAs, err = api.ReadAuthorities(o.CA); err != nil {
			return nil, err
		}
	}
	if o.Cert != "" || o.Key != "" {
		own, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{own}
	}
	return c, nil
}
