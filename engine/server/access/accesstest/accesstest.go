// Package accesstest makes the files of access for tests.
package accesstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"heddle/engine/server/access"
)

// Authority signs certificates.
type Authority struct {
	testing.TB
	File string // its certificate in PEM
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority returns an authority whose files are in dir.
func NewAuthority(t testing.TB, dir, name string) *Authority {
	t.Helper()
	a := &Authority{TB: t, File: filepath.Join(dir, name+".pem")}
	a.cert, a.key = a.sign(name, nil, nil)
	a.write(a.File, "CERTIFICATE", a.cert.Raw)
	return a
}

// sign returns a certificate; one of an authority if by is nil.
func (a *Authority) sign(name string, by *x509.Certificate, byKey *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		a.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if by == nil {
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
		by, byKey = c, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, by, key.Public(), byKey)
	if err != nil {
		a.Fatal(err)
	}
	if c, err = x509.ParseCertificate(raw); err != nil {
		a.Fatal(err)
	}
	return c, key
}

// Sign writes a certificate and its key to the files NAME.crt and NAME.key beside File.
func (a *Authority) Sign(name string) (cert, key string) {
	a.Helper()
	c, k := a.sign(name, a.cert, a.key)
	raw, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		a.Fatal(err)
	}
	base := filepath.Join(filepath.Dir(a.File), name)
	a.write(base+".crt", "CERTIFICATE", c.Raw)
	a.write(base+".key", "PRIVATE KEY", raw)
	return base + ".crt", base + ".key"
}

// Client returns the TLS configuration of a client that trusts the authority, with its certificate
// from files that Sign wrote.
func (a *Authority) Client(files ...string) *tls.Config {
	a.Helper()
	c := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	c.RootCAs.AddCert(a.cert)
	if len(files) == 2 {
		pair, err := tls.LoadX509KeyPair(files[0], files[1])
		if err != nil {
			a.Fatal(err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c
}

// write replaces a file at once, as a tool that renews certificates does.
func (a *Authority) write(path, kind string, raw []byte) {
	a.Helper()
	Replace(a, path, string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw})))
}

// Replace replaces a file at once.
func Replace(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// Token returns a new token and its line in a file of tokens.
func Token(t testing.TB, name string, role access.Role) (secret, line string) {
	t.Helper()
	secret, line, err := access.NewToken(name, role)
	if err != nil {
		t.Fatal(err)
	}
	return secret, line
}
