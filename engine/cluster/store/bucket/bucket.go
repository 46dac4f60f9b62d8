// Package bucket keeps the maps of a cluster in a key-value bucket of NATS JetStream.
package bucket

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"heddle/engine/cluster/store"
)

// Name is the name of the bucket.
const Name = "heddle"

// The stream of the bucket, and the start of the subjects of its keys.
const (
	stream   = "KV_" + Name
	subjects = "$KV." + Name + "."
)

// alive is the subject of the question which nodes are there.
const alive = Name + ".alive"

// patience is the time that nodes have to answer the question.
const patience = 300 * time.Millisecond

// slowest is the time that a request may take.
const slowest = 5 * time.Second

// KV is a store.KV. All reads come from the leader of the bucket, so that none is old. It is safe for
// concurrent use.
type KV struct {
	conn     *nats.Conn
	replicas int
	mu       sync.Mutex
	now      *opened // nil before the first use
}

// opened is a bucket that exists, and the stream below it.
type opened struct {
	jetstream.KeyValue
	stream jetstream.Stream
}

// New returns the bucket of a connection, which may come later. The first use creates a bucket that
// does not exist, on the given number of servers: 1, 3 or 5. A bucket on another number of servers is an error.
// 0 takes every bucket, and creates one on a single server.
func New(conn *nats.Conn, replicas int) *KV { return &KV{conn: conn, replicas: replicas} }

// Open opens the bucket at once.
func Open(ctx context.Context, conn *nats.Conn, replicas int) (*KV, error) {
	b := New(conn, replicas)
	return b, b.use(ctx, func(context.Context, *opened) error { return nil })
}

var errAway = errors.New("there is no connection to NATS")

// open returns the bucket, which exists.
func (b *KV) open(ctx context.Context) (*opened, error) {
	if !b.conn.IsConnected() {
		return nil, errAway
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now != nil {
		return b.now, nil
	}
	x, err := b.find(ctx)
	if err != nil {
		return nil, fmt.Errorf("bucket %s of NATS JetStream: %w", Name, err)
	}
	b.now = x
	return x, nil
}

// find returns the bucket with the settings that a cluster needs. It creates an absent one.
func (b *KV) find(ctx context.Context) (x *opened, err error) {
	js, err := jetstream.New(b.conn)
	if err != nil {
		return nil, err
	}
	x = new(opened)
	if x.stream, err = js.Stream(ctx, stream); errors.Is(err, jetstream.ErrStreamNotFound) {
		_, err = js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: Name, Replicas: max(b.replicas, 1), Storage: jetstream.FileStorage})
		if err != nil && !errors.Is(err, jetstream.ErrBucketExists) { // created by another process since
			return nil, fmt.Errorf("create it on %d control nodes: %w", max(b.replicas, 1), err)
		}
		x.stream, err = js.Stream(ctx, stream)
	}
	if err != nil {
		return nil, err
	}
	c := x.stream.CachedInfo().Config
	if b.replicas != 0 && c.Replicas != b.replicas {
		return nil, fmt.Errorf("it is on %d control nodes, and cluster.control_replicas is %d: change the setting, or the bucket by nats stream edit %s --replicas %d", c.Replicas, b.replicas, stream, b.replicas)
	}
	if c.AllowDirect {
		c.AllowDirect = false // a follower that lags would answer
		if x.stream, err = js.UpdateStream(ctx, c); err != nil {
			return nil, err
		}
	}
	x.KeyValue, err = js.KeyValue(ctx, Name)
	return x, err
}

// use calls f with the bucket, which exists. It bounds the time of f: without a leader, requests have
// no answer.
func (b *KV) use(ctx context.Context, f func(context.Context, *opened) error) error {
	limited, end := context.WithTimeout(ctx, slowest)
	defer end()
	x, err := b.open(limited)
	if err == nil {
		err = f(limited, x)
	}
	if errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrJetStreamNotEnabled) {
		return fmt.Errorf("bucket %s of NATS JetStream: the servers have no JetStream: start nats-server with -js", Name)
	}
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("bucket %s of NATS JetStream: no answer within %v: too few control nodes run, or they hold an election", Name, slowest)
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("bucket %s of NATS JetStream: too few control nodes run, or they hold an election: %w", Name, context.Cause(ctx))
	}
	api, ok := errors.AsType[*jetstream.APIError](err)
	if ok && api.ErrorCode == jetstream.JSErrCodeStreamNotFound || errors.Is(err, jetstream.ErrNoStreamResponse) { // the next use creates it
		b.mu.Lock()
		defer b.mu.Unlock()
		b.now = nil
	}
	return err
}

// Get implements store.KV.
func (b *KV) Get(ctx context.Context, key string) (value []byte, revision uint64, err error) {
	err = b.use(ctx, func(ctx context.Context, x *opened) error {
		e, err := x.Get(ctx, key)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			return store.ErrNotFound
		}
		if err == nil {
			value, revision = e.Value(), e.Revision()
		}
		return err
	})
	return value, revision, err
}

// Put implements store.KV.
func (b *KV) Put(ctx context.Context, key string, value []byte, revision uint64) (next uint64, err error) {
	err = b.use(ctx, func(ctx context.Context, x *opened) (err error) {
		if revision == 0 {
			next, err = x.Create(ctx, key, value)
		} else {
			next, err = x.Update(ctx, key, value, revision)
		}
		api, ok := errors.AsType[*jetstream.APIError](err)
		if errors.Is(err, jetstream.ErrKeyExists) || ok && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
			return store.ErrConflict
		}
		return err
	})
	return next, err
}

// Delete implements store.KV. It leaves no trace of the key.
func (b *KV) Delete(ctx context.Context, key string) error {
	return b.use(ctx, func(ctx context.Context, x *opened) error {
		return x.stream.Purge(ctx, jetstream.WithPurgeSubject(subjects+key))
	})
}

// Keys implements store.KV. A list by a watch would end early with a lost connection, without an
// error.
func (b *KV) Keys(ctx context.Context, prefix string) (keys []string, err error) {
	err = b.use(ctx, func(ctx context.Context, x *opened) error {
		info, err := x.stream.Info(ctx, jetstream.WithSubjectFilter(subjects+prefix+">"))
		if err != nil {
			return err
		}
		for s := range info.State.Subjects {
			keys = append(keys, strings.TrimPrefix(s, subjects))
		}
		return nil
	})
	slices.Sort(keys)
	return keys, err
}

// Alive implements store.KV.
func (b *KV) Alive(ctx context.Context) (map[string]string, error) {
	answers, err := b.ask(ctx)
	nodes := map[string]string{}
	for _, m := range answers {
		node, cluster, _ := strings.Cut(string(m.Data), " ")
		if store.CheckName(node) == nil {
			nodes[node] = cluster
		}
	}
	return nodes, err
}

// ask returns the answers of all nodes.
func (b *KV) ask(ctx context.Context) (all []*nats.Msg, err error) {
	inbox := nats.NewInbox()
	answers, err := b.conn.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer answers.Unsubscribe()
	if err := b.conn.PublishRequest(alive, inbox, nil); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		m, err := answers.NextMsgWithContext(ctx)
		if err != nil {
			if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrNoResponders) {
				err = nil
			}
			return all, err
		}
		all = append(all, m)
	}
}

// processHeader has a text in the answers of a node that differs for each process.
const processHeader = "Heddle-Process"

// TakenError says that another process has the name of a node.
type TakenError struct{ Node, Process string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("node %s answers already, from %s: end this process, or take another name", e.Node, e.Process)
}

// Join answers for a node until the connection ends. Cluster returns the identity of its cluster. A node
// whose folder cannot be read does not answer. If another process answers for the node, too, Join ends
// the answers with a *TakenError. Of two processes that join at the same time, at least one has the error.
func (b *KV) Join(ctx context.Context, node string, cluster func() (string, error)) error {
	here := process() + ", " + rand.Text()
	sub, err := b.conn.Subscribe(alive, func(m *nats.Msg) {
		if id, err := cluster(); err == nil {
			_ = m.RespondMsg(&nats.Msg{Data: []byte(node + " " + id), Header: nats.Header{processHeader: {here}}})
		}
	})
	if err != nil {
		return err
	}
	answers, err := b.ask(ctx)
	for _, m := range answers {
		name, _, _ := strings.Cut(string(m.Data), " ")
		if at := m.Header.Get(processHeader); name == node && at != here {
			at, _, _ = strings.Cut(at, ", ")
			return errors.Join(&TakenError{node, cmp.Or(at, "a process of an older version")}, sub.Unsubscribe())
		}
	}
	if err != nil {
		err = errors.Join(err, sub.Unsubscribe())
	}
	return err
}

// process names the host and this process.
func process() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s pid %d", host, os.Getpid())
}

// Revision implements store.KV.
func (b *KV) Revision(ctx context.Context) (last uint64, err error) {
	err = b.use(ctx, func(ctx context.Context, x *opened) error {
		info, err := x.stream.Info(ctx)
		if err == nil {
			last = info.State.LastSeq
		}
		return err
	})
	return last, err
}

// retry is the time between two attempts to watch the bucket.
const retry = time.Second

// Watch returns a channel that receives after changes, sometimes late or never. It is a hint to
// look at the maps earlier.
func (b *KV) Watch(ctx context.Context) <-chan struct{} {
	wake := make(chan struct{}, 1)
	go func() {
		for ctx.Err() == nil {
			_ = b.follow(ctx, wake) // the next look at the maps reports a store that is away
			select {
			case <-ctx.Done():
			case <-time.After(retry):
			}
		}
	}()
	return wake
}

// follow sends to wake after changes, until the watch or ctx ends.
func (b *KV) follow(ctx context.Context, wake chan<- struct{}) error {
	x, err := b.open(ctx)
	if err != nil {
		return err
	}
	w, err := x.Watch(ctx, "map.>", jetstream.MetaOnly(), jetstream.UpdatesOnly())
	if err != nil {
		return err
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case _, ok := <-w.Updates():
			if !ok {
				return nil
			}
			select {
			case wake <- struct{}{}:
			default:
			}
		}
	}
}
