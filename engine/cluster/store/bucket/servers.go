package bucket

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"heddle/engine/cluster/store"
)

// servers is the subject of the question which state of a collection servers have. The question is the
// name of the collection, the answer a store.Served in JSON.
const servers = Name + ".servers"

// Answer answers the questions to servers until the connection ends. Read reads the state of a collection
// again; a context bounds its time.
func (b *KV) Answer(read func(ctx context.Context, name string) store.Served) error {
	id, server := rand.Text(), "server "+process()
	_, err := b.conn.Subscribe(servers, func(m *nats.Msg) {
		go func() { // a slow store delays no other collection
			ctx, end := context.WithTimeout(context.Background(), slowest)
			defer end()
			s := read(ctx, string(m.Data))
			s.ID, s.Server = id, server
			text, err := json.Marshal(s)
			if err != nil {
				panic(err) // strings and numbers always succeed
			}
			_ = m.Respond(text) // the question comes again
		}()
	})
	return err
}

// Servers implements store.KV.
func (b *KV) Servers() (store.Servers, error) {
	c := &conversation{conn: b.conn, inbox: nats.NewInbox()}
	var err error
	c.answers, err = b.conn.SubscribeSync(c.inbox + ".*")
	return c, err
}

// conversation is a store.Servers. The answers to all questions come to one inbox, also late answers. Each
// question has its own subject there: NATS may permit one answer to a subject only.
type conversation struct {
	conn    *nats.Conn
	inbox   string
	answers *nats.Subscription
	asked   int
}

// Ask implements store.Servers.
func (c *conversation) Ask(_ context.Context, name string) error {
	c.asked++
	return c.conn.PublishRequest(servers, fmt.Sprintf("%s.%d", c.inbox, c.asked), []byte(name))
}

// Next implements store.Servers.
func (c *conversation) Next(ctx context.Context) (s store.Served, err error) {
	for {
		m, err := c.answers.NextMsgWithContext(ctx)
		if errors.Is(err, nats.ErrNoResponders) {
			return s, store.ErrNoServer
		}
		if err != nil {
			return s, err
		}
		if json.Unmarshal(m.Data, &s) == nil && s.ID != "" {
			return s, nil
		}
	}
}

// Close implements store.Servers.
func (c *conversation) Close() { _ = c.answers.Unsubscribe() }
