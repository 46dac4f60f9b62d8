package node

import (
	"encoding/json"
	"net/http"
	"net/url"
	"sync"

	"connectrpc.com/connect/v2"
	"github.com/nats-io/nats.go"

	"heddle/engine/cluster/transport"
)

// Peers dials nodes over HTTP at the URLs that they announce. It is safe for concurrent use.
type Peers struct {
	client  *http.Client
	accept  func(*url.URL) error
	refused func(node string, err error)
	sub     *nats.Subscription
	mu      sync.Mutex
	all     map[string]string // URLs by node
	strange map[string]bool   // nodes with a refused URL, which is reported once
}

// Listen collects the announcements of nodes until Close. The client sends the calls. Refused receives the
// error of accept for a URL; the former URL of the node stays.
func Listen(conn *transport.Conn, client *http.Client, accept func(*url.URL) error, refused func(node string, err error)) (p *Peers, err error) {
	p = &Peers{client: client, accept: accept, refused: refused, all: map[string]string{}, strange: map[string]bool{}}
	p.sub, err = conn.Subscribe("heddle.announce.*", func(m *nats.Msg) {
		var a Announcement
		if json.Unmarshal(m.Data, &a) != nil || m.Subject != "heddle.announce."+a.Node || transport.CheckNode(a.Node) != nil {
			return // another program has sent the message
		}
		p.set(a.Node, a.HTTP)
	})
	return p, err
}

// mostNodes bounds the memory for the names of nodes.
const mostNodes = 1 << 16

// set notes the URL of a node, if it is acceptable.
func (p *Peers) set(node, at string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if old, known := p.all[node]; known && old == at || len(p.all)+len(p.strange) >= mostNodes {
		return
	}
	u, err := url.Parse(at)
	if err == nil && at != "" {
		err = p.accept(u)
	}
	if err == nil {
		p.all[node] = at
	} else if !p.strange[node] {
		p.strange[node] = true
		p.refused(node, err)
	}
}

// Add notes the URL of a node that is not known, until its next announcement.
func (p *Peers) Add(node, at string) {
	p.mu.Lock()
	known := p.all[node] != ""
	p.mu.Unlock()
	if !known {
		p.set(node, at)
	}
}

// Dial returns the transport to a node. The error of a node that has not announced a URL has code
// Unavailable.
func (p *Peers) Dial(node string) (connect.Transport, error) {
	p.mu.Lock()
	at := p.all[node]
	p.mu.Unlock()
	if at == "" {
		return nil, connect.NewError(connect.CodeUnavailable, "node "+node+" has not announced a URL")
	}
	return (&transport.HTTP{Nodes: map[string]string{node: at}, Client: p.client}).Dial(node)
}

// Close ends the collection of announcements.
func (p *Peers) Close() error {
	p.client.CloseIdleConnections()
	return p.sub.Unsubscribe()
}
