package cluster

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"connectrpc.com/connect/v2"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster/shard"
	"heddle/engine/internal/part"
	"heddle/engine/syntax"
)

// node is a node with its load as the coordinator sees it.
type node struct {
	name    string
	client  api.ShardServiceClient
	running atomic.Int64
	recent  atomic.Int64 // mean time of recent calls, in nanoseconds
	at      atomic.Int64 // time of the last sample: see instant
	single  atomic.Int64 // time of the last answer that had one shard of a group; 0: there was none
}

var started = time.Now()

// instant is a time in nanoseconds that does not jump with the clock of the machine. It is never 0.
func instant(t time.Time) int64 { return int64(t.Sub(started)) | 1 }

// groups reports whether the node takes requests for several shards. A node of an older version answers
// for the first one. It is asked again after a minute, since it may be newer then.
func (n *node) groups(now time.Time) bool {
	at := n.single.Load()
	return at == 0 || instant(now)-at > int64(time.Minute)
}

// forget is the time in which the memory of a slow call halves, so that a node that was slow gets
// calls again.
const forget = 2 * time.Second

// load is the expected time of a further call: the queue times the mean time.
func (n *node) load(now time.Time) float64 {
	age := float64(instant(now)-n.at.Load()) / float64(forget)
	return float64(n.recent.Load()) / (1 + age*age) * float64(1+n.running.Load())
}

// note adds the time of a call. A call that was given up counts with the time until then; it is
// a lower bound, so it never lowers the mean.
func (n *node) note(took time.Duration, complete bool) {
	old := n.recent.Load()
	next := old + (int64(took)-old)/8
	if int64(took) > 4*old || old == 0 {
		next = int64(took) // a node that turns slow is known at once
	}
	if complete || next > old {
		n.recent.Store(next)
	}
	n.at.Store(instant(time.Now()))
}

// order returns the replicas of a shard in the order of their use: first the better of two random
// ones.
func (m *network) order(replicas []string) (all []*node, err error) {
	for _, name := range replicas {
		n, wrong := m.node(name)
		if wrong != nil {
			err = wrong
			continue
		}
		all = append(all, n)
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if now := time.Now(); len(all) > 1 && all[1].load(now) < all[0].load(now) {
		all[0], all[1] = all[1], all[0]
	}
	return all, err
}

// mostCredit is the number of second requests that may follow one another.
const mostCredit = 16

// earn counts requests, each of which allows a share of a second request.
func (m *network) earn(requests int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.credit = min(m.credit+m.opt.SecondShare*float64(requests), mostCredit)
}

// spend reports whether second requests are allowed now. A group of shards may need several, which later
// ones wait for.
func (m *network) spend(requests int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.credit < 1 {
		return false
	}
	m.credit -= float64(requests)
	return true
}

// engineError returns the error of a call to a node as the engine of the node gave it.
func engineError(err error, node string) error {
	if err == nil {
		return nil
	}
	if d, ok := api.DetailOf(err); ok {
		return described(d)
	}
	e := &engine.Error{Code: engine.CodeOf(api.EngineError(err)), Op: "call", Device: node, Err: err}
	if sent, ok := errors.AsType[*connect.Error](err); ok { // servers take one in a chain for their own answer
		e.Err = &remoteError{cmp.Or(sent.Message(), err.Error()), nil}
	}
	return e
}

// remoteError has the text of an error of another process.
type remoteError struct {
	text string
	kind error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.kind }

// mostOffset bounds the place of an error in a text, since it takes as much memory.
const mostOffset = 1 << 20

// described is the inverse of api.ErrorOf.
func described(d *api.Error) error {
	e := &engine.Error{Code: d.EngineCode(), Op: d.GetOp(), Device: d.GetDevice()}
	text := strings.TrimPrefix(d.GetMessage(), d.GetOp()+": ")
	switch {
	case d.GetCode() == shard.EpochCode:
		e.Err = &remoteError{text, part.ErrEpoch}
	case d.GetOffset() > mostOffset:
		e.Err = &remoteError{text, nil}
	case d != nil && d.Offset != nil:
		e.Err = &remoteError{d.GetMessage(), &syntax.Error{Text: strings.Repeat(" ", int(d.GetOffset())), Offset: int(d.GetOffset()), Reason: syntax.ReasonOf(d.GetMessage())}}
	default:
		e.Err = &remoteError{text, nil}
	}
	return e
}

// timeLeft returns the time until the deadline, in microseconds; 0 for none.
func timeLeft(ctx context.Context) uint64 {
	end, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return uint64(max(time.Until(end).Microseconds(), 1))
}
