package transport

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
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
	if i.Token == "" {
		return c, nil
	}
	b := &bearer{Transport: c.Transport.(*http.Transport), path: i.Token}
	c.Transport = b
	return c, b.read()
}

// bearer adds the token of a file to each request.
type bearer struct {
	*http.Transport
	path string

	mu     sync.Mutex
	file   os.FileInfo // of header
	header string
}

// RoundTrip implements http.RoundTripper.
func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
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
	file, err := os.Stat(b.path)
	if err != nil {
		return err
	}
	if b.file != nil && os.SameFile(file, b.file) && file.Size() == b.file.Size() && file.ModTime().Equal(b.file.ModTime()) {
		return nil
	}
	text, err := os.ReadFile(b.path)
	if err != nil {
		return err
	}
	line := bytes.TrimSpace(text)
	if len(line) == 0 || bytes.ContainsAny(line, " \t\r\n") {
		return fmt.Errorf("%s: want one line with a token, as heddle serve token prints it", b.path)
	}
	b.file, b.header = file, "Bearer "+string(line)
	return nil
}
