package transport

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"

	"heddle/engine/api"
)

// Identity are the files by which a program checks nodes, and proves itself to them over HTTP. The
// zero value trusts the authorities of the system and shows nothing.
type Identity struct {
	// CA has the certificates in PEM whose holders sign certificates of nodes.
	CA string
	// Cert and Key are the certificate in PEM that nodes get, and its key. They are read for each
	// connection, so a new certificate needs no restart.
	Cert, Key string
	// Token is a file with one line, the token that nodes get. A changed file is read again; one with
	// an error leaves the old token in use.
	Token string
	// Trusted are hosts, and networks such as 10.0.0.0/24. With Token or Cert, the URL of a node must have one
	// of these hosts, or a host of this machine, or https with CA.
	Trusted []string
	// Configured says that all URLs come from a file of the operator, which trusts them.
	Configured bool
}

// Accept returns an error if calls to a URL would show the identity to a stranger. Anyone who may publish
// on a subject of announcements can announce a URL.
func (i Identity) Accept(u *url.URL) error {
	host := u.Hostname()
	ip := net.ParseIP(host)
	switch {
	case u.Scheme != "http" && u.Scheme != "https" || host == "":
		return fmt.Errorf("%q is no URL of a node: want http://HOST:PORT or https://HOST:PORT", u.Redacted())
	case i.Configured, i.Token == "" && i.Cert == "", host == "localhost", ip.IsLoopback():
		return nil
	case u.Scheme == "https" && i.CA != "":
		return nil // TLS checks the certificate of the host
	}
	for _, t := range i.Trusted {
		if _, network, err := net.ParseCIDR(t); err == nil && network.Contains(ip) || strings.EqualFold(t, host) {
			return nil
		}
	}
	return fmt.Errorf("%s gets no call: give its node a certificate of cluster.ca, or add %s to cluster.trusted", u.Redacted(), host)
}

// Client adds the identity to a client, whose Transport is an *http.Transport, and returns it.
func (i Identity) Client(c *http.Client) (*http.Client, error) {
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if i.CA != "" {
		var err error
		if secure.RootCAs, err = api.ReadAuthorities(i.CA); err != nil {
			return nil, err
		}
	}
	if i.Cert != "" || i.Key != "" {
		read := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(i.Cert, i.Key)
			if err != nil {
				err = fmt.Errorf("certificate %s, key %s: %w", i.Cert, i.Key, err)
			}
			return &pair, err
		}
		if _, err := read(nil); err != nil {
			return nil, err
		}
		secure.GetClientCertificate = read
	}
	c.Transport.(*http.Transport).TLSClientConfig = secure
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // nodes have none
	b := &bearer{Transport: c.Transport.(*http.Transport), identity: i}
	c.Transport = b
	if i.Token == "" {
		return c, nil
	}
	return c, b.read()
}

// bearer adds the token of a file to each request, which goes to an accepted URL only.
type bearer struct {
	*http.Transport
	identity Identity

	mu     sync.Mutex
	file   os.FileInfo // state of the file of header
	header string
}

// RoundTrip implements http.RoundTripper.
func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := b.identity.Accept(r.URL); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	if b.identity.Token == "" {
		return b.Transport.RoundTrip(r)
	}
	_ = b.read() // an error leaves the old token
	r = r.Clone(r.Context())
	b.mu.Lock()
	r.Header.Set("Authorization", b.header)
	b.mu.Unlock()
	return b.Transport.RoundTrip(r)
}

// read reads the token if the file has changed.
func (b *bearer) read() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	file, err := os.Stat(b.identity.Token)
	if err != nil {
		return err
	}
	if b.file != nil && os.SameFile(file, b.file) && file.Size() == b.file.Size() && file.ModTime().Equal(b.file.ModTime()) {
		return nil
	}
	text, err := os.ReadFile(b.identity.Token)
	if err != nil {
		return err
	}
	line := bytes.TrimSpace(text)
	if len(line) == 0 || bytes.ContainsAny(line, " \t\r\n") {
		return fmt.Errorf("%s: want one line with a token, as heddle serve token prints it", b.identity.Token)
	}
	b.file, b.header = file, "Bearer "+string(line)
	return nil
}
