// Package transport connects the nodes of a cluster: calls of Connect in process, over HTTP, and
// over NATS. All transports deliver the same answers, error codes, details, deadlines and
// cancellations. Local, HTTP and NATS find the transport to a node by its name.
package transport

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"
	"connectrpc.com/connect/v2/connectinprocess"

	"heddle/engine/syntax/pattern"
)

// Local holds the servers of nodes in this process by the names of the nodes.
type Local map[string]*connect.Server

// Dial returns the transport to a node. The error has code NotFound.
func (l Local) Dial(node string) (connect.Transport, error) {
	s, ok := l[node]
	if !ok {
		return nil, unknown(node)
	}
	return connectinprocess.New(s), nil
}

// HTTP dials nodes over HTTP. It is safe for concurrent use.
type HTTP struct {
	// Nodes are the base URLs of nodes by name, such as "http://10.0.0.1:7700".
	Nodes map[string]string
	// Pattern is the URL of a node that is not in Nodes, with {node} for its name. The name service
	// of the network finds the host. Default: none.
	Pattern string
	// Client sends the requests. Default: NewClient().
	Client *http.Client
	// MaxReply limits an answer in bytes. Default: 1 GiB.
	MaxReply int
	once     sync.Once
}

// NewClient returns a client for calls between nodes. It shares one connection of HTTP/2 with each
// node, closes a connection that is silent for three seconds, and waits two seconds for a new one. Of
// a name with several addresses it takes one by chance, and another one if that fails.
func NewClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy, t.DialContext = nil, (&spread{net.Dialer{Timeout: 2 * time.Second}, net.DefaultResolver.LookupHost}).dial
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP2(true)
	t.Protocols.SetUnencryptedHTTP2(true)
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: time.Second, PingTimeout: 2 * time.Second}
	return &http.Client{Transport: t}
}

// Dial returns the transport to a node. It does not connect yet. The error has code NotFound.
func (h *HTTP) Dial(node string) (connect.Transport, error) {
	at, ok := h.Nodes[node]
	if !ok && h.Pattern != "" {
		at, ok = strings.ReplaceAll(h.Pattern, "{node}", node), true
	}
	if !ok {
		return nil, unknown(node)
	}
	h.once.Do(func() {
		if h.Client == nil {
			h.Client = NewClient()
		}
		if h.MaxReply <= 0 {
			h.MaxReply = 1 << 30
		}
	})
	return connecthttp.NewTransport(h.Client, at, connecthttp.WithReadMaxBytes(h.MaxReply), connecthttp.WithCompressMinBytes(4096)), nil
}

var nameOfNode = pattern.New(`^[A-Za-z0-9_-]{1,64}$`)

// CheckNode returns an error unless name can be the name of a node: letters, digits, dashes and
// underscores. Other characters have a meaning in subjects of NATS.
func CheckNode(name string) error {
	if !nameOfNode().MatchString(name) {
		return fmt.Errorf("node %q: want 1 to 64 letters, digits, dashes and underscores", name)
	}
	return nil
}

func unknown(node string) error {
	return connect.Errorf(connect.CodeNotFound, "no node is named %q", node)
}
