package access

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"heddle/engine"
	"heddle/engine/api"
)

// Files are the files that rule access. An empty name is none.
type Files struct {
	// Tokens has the accepted tokens: see ReadTokens.
	Tokens string
	// Cert and Key are the certificate chain of the server and its key in PEM. They turn TLS on.
	Cert, Key string
	// ClientCA has the certificates in PEM whose holders sign certificates of clients. With it,
	// each client shows such a certificate.
	ClientCA string
	// AdminCA does the same for clients of administration. Default: ClientCA. Guard.Closed does not
	// count this default: a certificate of ClientCA alone gives no right to administration.
	AdminCA string
}

// Names returns the names of the files.
func (f Files) Names() (names []string) {
	for _, name := range []string{f.Tokens, f.Cert, f.Key, f.ClientCA, f.AdminCA} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Guard decides about callers. It is safe for concurrent use.
type Guard struct {
	files   Files
	reading sync.Mutex // held by Reload, so that the content read last stays
	now     atomic.Pointer[content]
}

// content is the content of the files.
type content struct {
	tokens         *Tokens // nil: all callers are equal
	service, admin *tls.Config
}

// Open reads the files.
func Open(files Files) (*Guard, error) {
	g := &Guard{files: files}
	return g, g.Reload()
}

// Reload reads the files again. An error leaves the old contents in use. Open connections stay.
func (g *Guard) Reload() error {
	g.reading.Lock()
	defer g.reading.Unlock()
	c, err := g.files.read()
	if err != nil {
		return &engine.Error{Code: engine.InvalidOption, Op: "read access files", Err: err}
	}
	g.now.Store(c)
	return nil
}

func (f Files) read() (*content, error) {
	c := &content{}
	if f.Tokens != "" {
		in, err := os.Open(f.Tokens)
		if err != nil {
			return nil, err
		}
		defer in.Close()
		if c.tokens, err = ReadTokens(in, f.Tokens); err != nil {
			return nil, err
		}
	}
	if f.Cert == "" && f.Key == "" {
		if f.ClientCA != "" || f.AdminCA != "" {
			return nil, errors.New("certificates of clients need a certificate and a key of the server")
		}
		return c, nil
	}
	if f.Cert == "" || f.Key == "" {
		return nil, errors.New("the certificate of the server and its key need each other")
	}
	pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", f.Cert, f.Key, err)
	}
	if c.service, err = tlsConfig(pair, f.ClientCA); err != nil {
		return nil, err
	}
	ca := f.AdminCA
	if ca == "" {
		ca = f.ClientCA
	}
	c.admin, err = tlsConfig(pair, ca)
	return c, err
}

// tlsConfig returns the TLS configuration with a certificate and the authority of clients.
func tlsConfig(pair tls.Certificate, ca string) (*tls.Config, error) {
	c := &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12}
	if ca == "" {
		return c, nil
	}
	var err error
	c.ClientAuth = tls.RequireAndVerifyClientCert
	c.ClientCAs, err = api.ReadAuthorities(ca)
	return c, err
}

// TLS returns the configuration of a listener of the service or of administration, which follows
// Reload; nil without a certificate.
func (g *Guard) TLS(admin bool) *tls.Config {
	current := func(*tls.ClientHelloInfo) (*tls.Config, error) {
		if c := g.now.Load(); admin {
			return c.admin, nil
		} else {
			return c.service, nil
		}
	}
	if c, _ := current(nil); c == nil {
		return nil
	}
	return &tls.Config{GetConfigForClient: current, NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12}
}

// Closed reports whether callers of the service or of administration must prove their identity.
func (g *Guard) Closed(admin bool) bool {
	ca := g.files.ClientCA
	if admin {
		ca = g.files.AdminCA
	}
	return g.files.Tokens != "" || ca != ""
}

// Check returns the name of the caller of a request: of its token, of its certificate, or its
// host. The error has code Unauthenticated or Forbidden.
func (g *Guard) Check(r *http.Request, need Role) (caller string, err error) {
	caller = host(r.RemoteAddr)
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		caller = r.TLS.VerifiedChains[0][0].Subject.String()
	}
	tokens := g.now.Load().tokens
	if tokens == nil || need == None {
		return caller, nil
	}
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return caller, refuse(engine.Unauthenticated, errors.New("the request has no token: send the header Authorization: Bearer TOKEN"))
	}
	name, role := tokens.Find(secret)
	if role == None {
		return caller, refuse(engine.Unauthenticated, errors.New("the token of the request is unknown"))
	}
	if role < need {
		return name, refuse(engine.Forbidden, fmt.Errorf("token %s has the role %s, and the request needs %s", name, role, need))
	}
	return name, nil
}

// Known reports whether a request shows a token or certificate that the guard accepts. Requests of role
// None need neither.
func (g *Guard) Known(r *http.Request) bool {
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		return true
	}
	_, err := g.Check(r, Read)
	return err == nil && g.now.Load().tokens != nil
}

// CheckHost checks the header Host of a request to a server that knows no callers. A page of an attacker can
// give its own name the address of the server (DNS rebinding), and then counts as a page of the server. So
// the host must be an address, localhost or one of names, in which "*.example.com" are all names below
// example.com and "*" are all names. The error has code Forbidden.
func CheckHost(r *http.Request, names []string) error {
	name := strings.ToLower(strings.TrimSuffix(host(r.Host), "."))
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil || name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return nil
	}
	for _, known := range names {
		known = strings.ToLower(known)
		if below, ok := strings.CutPrefix(known, "*"); known == name || ok && strings.HasSuffix(name, below) {
			return nil
		}
	}
	return refuse(engine.Forbidden, fmt.Errorf("the header Host names %.100q, which is no known name of the server: add it to server.hosts, or use tokens", r.Host))
}

func refuse(code engine.Code, err error) error {
	return &engine.Error{Code: code, Op: "check access", Err: err}
}

// host returns the host of an address with a port.
func host(address string) string {
	h, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return h
}
