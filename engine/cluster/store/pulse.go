package store

import (
	"context"
	"errors"
	"slices"
	"time"
)

// silence is the time after which a change goes on without a node that does not answer.
const silence = 10 * time.Second

// ask is the time between two questions which nodes answer.
const ask = silence / 5

// pulse remembers when nodes answered.
type pulse struct {
	asked time.Time
	seen  map[string]time.Time
}

// dead returns the nodes that have not answered for the time silence, by the clock of the
// caller.
func (p *pulse) dead(ctx context.Context, kv KV, nodes []string, now time.Time) (dead []string, err error) {
	if gap := now.Sub(p.asked); gap >= ask {
		alive, err := kv.Alive(ctx)
		if err != nil {
			return nil, err
		}
		if p.asked = now; gap >= silence { // p.seen is from an earlier change
			p.seen = map[string]time.Time{}
		}
		for n := range alive {
			p.seen[n] = now
		}
	}
	for _, n := range nodes {
		at, ok := p.seen[n]
		if !ok {
			p.seen[n] = now
		} else if now.Sub(at) >= silence && !slices.Contains(dead, n) {
			dead = append(dead, n)
		}
	}
	return dead, nil
}

// advance takes the next step of the change of a collection. Any process may do it at any time.
func advance(ctx context.Context, kv KV, name string, p *pulse, now time.Time) error {
	s, revision, err := get(ctx, kv, name)
	if err != nil || s.Intent == nil {
		return err
	}
	all, err := Reports(ctx, kv)
	if err != nil {
		return err
	}
	next, ok := s.Advance(all, nil)
	if !ok {
		var nodes []string
		for _, shard := range s.Intent.Target.Shards {
			nodes = append(nodes, shard.Replicas...)
		}
		dead, err := p.dead(ctx, kv, nodes, now)
		if err != nil {
			return err
		}
		next, ok = s.Advance(all, dead)
	}
	if ok {
		if _, err := put(ctx, kv, name, next, revision); !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return nil
}
