package node

import (
	"cmp"
	"encoding/json"
	"net/http"
	"sync"

	"connectrpc.com/connect/v2"
	"github.com/nats-io/nats.go"

	"heddle/engine/cluster/transport"
)

// Peers dials nodes over HTTP at the URLs that they announce. It is safe for concurrent use.
type Peers struct {
	client *http.Client
	sub    *nats.Subscription
	mu     sync.Mutex
	all    map[string]string // URLs by node
}

// Listen collects the announcements of nodes until Close. The client sends the calls.
func Listen(conn *transport.Conn, client *http.Client) (p *Peers, err error) {
	p = &Peers{client: client, all: map[string]string{}}
	p.sub, err = conn.Subscribe("heddle.announce.*", func(m *nats.Msg) {
		var a Announcement
		if json.Unmarshal(m.Data, &a) != nil || m.Subject != "heddle.announce."+a.Node {
			return // of another program
		}
		p.mu.Lock()
		p.all[a.Node] = a.HTTP
		p.mu.Unlock()
	})
	return p, err
}

// Add notes the URL of a node until its next announcement.
func (p *Peers) Add(node, url string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[node] = cmp.Or(p.all[node], url)
}

// Dial returns the transport to a node. The error of a node that has not announced a URL has code
// Unavailable.
func (p *Peers) Dial(node string) (connect.Transport, error) {
	p.mu.Lock()
	url := p.all[node]
	p.mu.Unlock()
	if url == "" {
		return nil, connect.NewError(connect.CodeUnavailable, "node "+node+" has not announced a URL")
	}
	return (&transport.HTTP{Nodes: map[string]string{node: url}, Client: p.client}).Dial(node)
}

// Close ends the collection of announcements.
func (p *Peers) Close() error {
	p.client.CloseIdleConnections()
	return p.sub.Unsubscribe()
}
