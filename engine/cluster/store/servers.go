package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Served is the answer of a server, which has no shards: the state of a collection that its queries get.
type Served struct {
	ID     string `json:"id"`     // tells the process from all other processes
	Server string `json:"server"` // host and process, for people
	Epoch  uint64 `json:"epoch"`  // epoch of the map; 0 if the server does not serve the collection
	// Revision is the revision of the state in the store.
	Revision uint64 `json:"revision"`
	Error    string `json:"error,omitempty"` // why the server has no newer state
}

// ErrNoServer is the answer for all servers if none is there.
var ErrNoServer = errors.New("no server is there")

// Servers is a conversation with all servers of a cluster.
type Servers interface {
	// Ask lets all servers read the state of a collection again. Each sends a Served.
	Ask(ctx context.Context, name string) error
	// Next returns the next answer, the error of ctx, or ErrNoServer.
	Next(ctx context.Context) (Served, error)
	Close()
}

// Times of a confirmation by servers.
const (
	round  = time.Second // in which servers answer a question
	rounds = 5
)

// LateError says that a change is in force, but that servers do not answer from it.
type LateError struct {
	Name string
	Late []Served
}

func (e *LateError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: the change is in force, but after %v some servers do not follow it; repeat the command to ask them again:", e.Name, rounds*round)
	for _, s := range e.Late {
		fmt.Fprintf(&b, " %s %s;", s.Server, cmp.Or(s.Error, "does not answer"))
	}
	return strings.TrimSuffix(b.String(), ";")
}

// confirmation asks servers for a collection. It knows the servers that have answered since it began.
type confirmation struct {
	Servers
	name  string
	began time.Time
	end   context.CancelFunc
	ended chan struct{}
	news  chan struct{} // receives after an answer

	mu   sync.Mutex
	seen map[string]Served // newest answers, by the ID of the server
	none bool              // NATS knows no server
}

// confirmation asks for the first time. Its owner calls close.
func (o Operator) confirmation(ctx context.Context, name string) (*confirmation, error) {
	s, err := o.KV.Servers()
	if err != nil {
		return nil, err
	}
	c := &confirmation{Servers: s, name: name, began: time.Now(), ended: make(chan struct{}), news: make(chan struct{}, 1), seen: map[string]Served{}}
	ctx, c.end = context.WithCancel(ctx)
	go c.listen(ctx)
	_ = c.Ask(ctx, name) // wait asks again
	return c, nil
}

// close ends the conversation.
func (c *confirmation) close() {
	c.end()
	<-c.ended
	c.Close()
}

// listen notes the newest answer of each server until ctx or the connection ends.
func (c *confirmation) listen(ctx context.Context) {
	defer close(c.ended)
	for {
		s, err := c.Next(ctx)
		if err != nil && !errors.Is(err, ErrNoServer) {
			return
		}
		c.mu.Lock()
		c.none = err != nil
		if err == nil && s.Revision >= c.seen[s.ID].Revision {
			c.seen[s.ID] = s
		}
		c.mu.Unlock()
		select {
		case c.news <- struct{}{}:
		default:
		}
	}
}

// late returns the servers without a revision, by their names.
func (c *confirmation) late(revision uint64) []Served {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.DeleteFunc(slices.Collect(maps.Values(c.seen)), func(s Served) bool { return s.Revision >= revision })
	slices.SortFunc(all, func(a, b Served) int { return strings.Compare(a.Server, b.Server) })
	return all
}

// noServer reports whether no server was there at the last question.
func (c *confirmation) noServer() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.none
}

// wait returns when all servers that answer have the state of a revision, or with a *LateError. A server
// that begins to answer after the first question has a round to do so.
func (c *confirmation) wait(ctx context.Context, revision uint64) error {
	var asked error
	for range rounds {
		asked = c.Ask(ctx, c.name)
		over := time.After(round)
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-over:
				waiting = false
			case <-c.news:
			}
			if all := !waiting || time.Since(c.began) >= round || c.noServer(); all && asked == nil && len(c.late(revision)) == 0 {
				return nil
			}
		}
	}
	if late := c.late(revision); len(late) > 0 {
		return &LateError{c.name, late}
	}
	return fmt.Errorf("%s: the change is in force, but the servers cannot be asked for it: %w", c.name, asked)
}
