package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"heddle/engine"
	"heddle/engine/internal/layout"
)

// ErrBusy says that another change of the collection is running.
var ErrBusy = errors.New("another change is under way")

// Operator changes maps on behalf of a person. Every method may be called again after a crash,
// and by several operators at once.
type Operator struct{ KV KV }

// Publish begins to serve the shards of a manifest, each on some nodes that answer. It returns the
// epoch for Wait.
func (o Operator) Publish(ctx context.Context, manifest *layout.Map, replicas int, sources ...string) (uint64, error) {
	if err := CheckName(manifest.Name); err != nil {
		return 0, err
	}
	if err := o.found(ctx); err != nil {
		return 0, err
	}
	return o.change(ctx, manifest.Name, "publish", sources, func(s *State, l load) (*layout.Map, error) {
		for _, m := range s.maps() {
			if same(m, manifest, replicas) && m == s.maps()[len(s.maps())-1] {
				return m, nil
			}
		}
		target := clone(manifest)
		return target, l.place(target, replicas)
	})
}

// same says that a map has the files of a manifest, each file on the given number of nodes.
func same(m, manifest *layout.Map, replicas int) bool {
	bare := clone(m)
	for i := range bare.Shards {
		if len(bare.Shards[i].Replicas) != replicas {
			return false
		}
		bare.Shards[i].Replicas = nil
	}
	want := clone(manifest)
	for i := range want.Shards {
		want.Shards[i].Replicas = nil
	}
	bare.Epoch, want.Epoch = 0, 0
	return reflect.DeepEqual(bare, want)
}

// Move moves one shard between two nodes.
func (o Operator) Move(ctx context.Context, name string, shard int, from, to string) (uint64, error) {
	return o.change(ctx, name, "move", nil, func(s *State, l load) (*layout.Map, error) {
		if s.Current == nil {
			return nil, notFound(name)
		}
		if shard < 0 || shard >= len(s.Current.Shards) {
			return nil, fmt.Errorf("%s has no shard %d: it has shards 0 to %d", name, shard, len(s.Current.Shards)-1)
		}
		target := clone(s.Current)
		on := target.Shards[shard].Replicas
		at := slices.Index(on, from)
		if at < 0 && slices.Contains(on, to) {
			return s.Current, nil // moved already
		}
		if _, ok := l[to]; !ok {
			return nil, fmt.Errorf("node %s does not answer, or drains", to)
		}
		if at < 0 || slices.Contains(on, to) {
			return nil, fmt.Errorf("shard %d of %s is on %v: it cannot move from %s to %s", shard, name, on, from, to)
		}
		on[at] = to
		return target, nil
	})
}

// Rebalance evens the bytes on the nodes by moves of shards of a collection.
func (o Operator) Rebalance(ctx context.Context, name string) (uint64, error) {
	return o.change(ctx, name, "rebalance", nil, func(s *State, l load) (*layout.Map, error) {
		if s.Current == nil {
			return nil, notFound(name)
		}
		target := clone(s.Current)
		l.balance(target)
		return target, nil
	})
}

// Drain moves all shards away from a node, which gets no new shards. It returns the names of the
// collections whose changes the caller waits for; none when the node is empty.
func (o Operator) Drain(ctx context.Context, node string) (left []string, err error) {
	if err := CheckName(node); err != nil {
		return nil, err
	}
	if err := o.known(ctx, node); err != nil {
		return nil, err
	}
	if _, err := o.KV.Put(ctx, drainKey+node, []byte("{}"), 0); err != nil && !errors.Is(err, ErrConflict) {
		return nil, err
	}
	states, err := readAll(ctx, o.KV)
	for name, s := range states {
		if s.Current == nil || !holds(s.Current, node) {
			continue
		}
		left = append(left, name)
		_, changeErr := o.change(ctx, name, "drain", nil, func(s *State, l load) (*layout.Map, error) {
			if s.Current == nil {
				return nil, notFound(name)
			}
			target := clone(s.Current)
			return target, l.leave(target, node)
		})
		if !errors.Is(changeErr, ErrBusy) { // the next call drains it
			err = errors.Join(err, changeErr)
		}
	}
	slices.Sort(left)
	return left, err
}

// known returns an error for a node that the cluster has never seen.
func (o Operator) known(ctx context.Context, node string) error {
	all, err := Reports(ctx, o.KV)
	if err == nil && all[node] == nil {
		err = fmt.Errorf("no node is named %s: the nodes are %v", node, slices.Sorted(maps.Keys(all)))
	}
	return err
}

func holds(m *layout.Map, node string) bool {
	return slices.ContainsFunc(m.Shards, func(s layout.Shard) bool { return slices.Contains(s.Replicas, node) })
}

// Undrain lets a node take shards again.
func (o Operator) Undrain(ctx context.Context, node string) error {
	return o.KV.Delete(ctx, drainKey+node)
}

// Remove ends a collection, with its running change. It returns when all servers that answer have seen
// the end, or with a *LateError.
func (o Operator) Remove(ctx context.Context, name string) error {
	servers, err := o.confirmation(ctx, name)
	if err != nil {
		return err
	}
	defer servers.close()
	revision, err := o.edit(ctx, name, func(s *State) error {
		if s.Current == nil && s.Intent == nil {
			return notFound(name)
		}
		*s = State{Epoch: s.Epoch, Removed: s.Epoch}
		return nil
	})
	if err != nil {
		return err
	}
	return servers.wait(ctx, revision)
}

// Cancel ends the running change. The map stays as it is.
func (o Operator) Cancel(ctx context.Context, name string) error {
	_, err := o.edit(ctx, name, func(s *State) error {
		if s.Intent == nil {
			return fmt.Errorf("%s: no change is under way", name)
		}
		s.end(engine.OK, s.Intent.Verb+" was cancelled")
		return nil
	})
	return err
}

func notFound(name string) error {
	return &engine.Error{Code: engine.NotFound, Op: "cluster", Err: fmt.Errorf("no collection %q", name)}
}

// edit changes a state by compare-and-set until no other process interferes. It returns the revision of
// the state.
func (o Operator) edit(ctx context.Context, name string, f func(*State) error) (uint64, error) {
	for {
		s, revision, err := get(ctx, o.KV, name)
		if err != nil {
			return 0, err
		}
		if err := f(s); err != nil {
			return 0, err
		}
		if revision, err = put(ctx, o.KV, name, s, revision); !errors.Is(err, ErrConflict) {
			return revision, err
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
}

// change begins a change to the map that target returns. If target returns the map that is current
// or under way, its epoch is the answer.
func (o Operator) change(ctx context.Context, name, verb string, sources []string, target func(*State, load) (*layout.Map, error)) (epoch uint64, err error) {
	states, err := readAll(ctx, o.KV)
	if err != nil {
		return 0, err
	}
	nodes, err := o.free(ctx)
	if err != nil {
		return 0, err
	}
	_, err = o.edit(ctx, name, func(s *State) error {
		m, err := target(s, loads(states, nodes))
		if err != nil {
			return err
		}
		m = clone(m)
		for _, is := range s.maps() {
			if m.Epoch = is.Epoch; !reflect.DeepEqual(m, is) {
				continue
			}
			if epoch = is.Epoch; s.Intent != nil && is == s.Intent.Target {
				s.Intent.Sources = sources
			} else if s.Intent != nil {
				return fmt.Errorf("%s: %w: %s", name, ErrBusy, s.Intent.Verb)
			} else if sources != nil {
				s.Sources = sources
			}
			return nil
		}
		if s.Intent != nil {
			return fmt.Errorf("%s: %w: %s", name, ErrBusy, s.Intent.Verb)
		}
		epoch = s.Epoch + 1
		m.Epoch = epoch
		s.end(engine.OK, "")
		s.Epoch, s.Intent = epoch, &Intent{Verb: verb, Target: m, Sources: sources}
		return nil
	})
	return epoch, err
}

// free returns the nodes that may take shards.
func (o Operator) free(ctx context.Context) ([]string, error) {
	nodes, err := o.members(ctx)
	if err != nil {
		return nil, err
	}
	draining, err := list(ctx, o.KV, drainKey)
	return slices.DeleteFunc(nodes, func(n string) bool { return slices.Contains(draining, n) }), err
}

// election is the time for which Wait tolerates errors of the store, such as the loss of its leader.
const election = 30 * time.Second

// Wait waits until the map of an epoch is in force, and until all servers that answer have it, or returns
// a *LateError. An intent that has ended without effect is an error.
func (o Operator) Wait(ctx context.Context, name string, epoch uint64) error {
	servers, err := o.confirmation(ctx, name)
	if err != nil {
		return err
	}
	defer servers.close()
	var p pulse
	var intent *Intent
	worked := time.Now()
	for {
		s, revision, err := get(ctx, o.KV, name)
		switch {
		case err != nil:
		case s.Current != nil && s.Current.Epoch >= epoch:
			return servers.wait(ctx, revision)
		case s.Intent == nil || s.Epoch > epoch:
			if s.Failure == "" {
				s.Failure = "the collection has been removed"
			}
			return &engine.Error{Code: cmp.Or(s.Code, engine.Internal), Err: fmt.Errorf("%s: %s", name, s.Failure)}
		default:
			intent = s.Intent
			err = advance(ctx, o.KV, name, &p, time.Now())
		}
		if err == nil {
			worked = time.Now()
		} else if time.Since(worked) > election {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), o.obstacles(context.WithoutCancel(ctx), intent))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// obstacles returns the errors of nodes that try a change again and again.
func (o Operator) obstacles(ctx context.Context, i *Intent) (found error) {
	if i == nil {
		return nil
	}
	all, err := Reports(ctx, o.KV)
	if err != nil {
		return err
	}
	for _, node := range slices.Sorted(maps.Keys(all)) {
		for _, f := range all[node].Failed {
			if f.Name == i.Target.Name && f.Epoch == i.Target.Epoch {
				found = errors.Join(found, fmt.Errorf("node %s, shard %d: %s", node, f.Shard, f.Error))
			}
		}
	}
	return found
}
