package api

import (
	"crypto/x509"
	"fmt"
	"os"
)

// ReadAuthorities reads a file of certificates in PEM: the authorities that a client or a server
// trusts. A file without a certificate is an error.
func ReadAuthorities(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s: no certificate in PEM", path)
	}
	return pool, nil
}
