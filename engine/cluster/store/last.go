package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"heddle/engine"
	"heddle/engine/file/auxiliary"
	"heddle/engine/file/container"
)

// last is the file of the last maps in the folder of a node.
const last = "maps.json"

// lastMaps is the content of last, with the states by the names of collections.
type lastMaps struct {
	Maps map[string]*State `json:"maps"`
}

// readLast returns the maps that the node saw last. Intents are left out: only the store knows
// whether they still hold.
func (k *Keeper) readLast() (map[string]*State, error) {
	path := filepath.Join(k.Dir, last)
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var of lastMaps
	if err == nil {
		err = auxiliary.Unseal(data, &of)
	}
	for name, s := range of.Maps {
		if s == nil {
			err = errors.Join(err, fmt.Errorf("%s is null", name))
			continue
		}
		if s.Intent = nil; s.Validate() != nil {
			err = errors.Join(err, fmt.Errorf("%s.%w", name, s.Validate()))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return of.Maps, nil
}

// Known reports whether the folder has maps, so that the node serves without the store.
func (k *Keeper) Known() bool {
	_, err := os.Stat(filepath.Join(k.Dir, last))
	return err == nil
}

// writeLast replaces the maps on disk, if they differ. Removed collections keep their epoch there.
func (k *Keeper) writeLast(states map[string]*State) error {
	if err := os.MkdirAll(k.Dir, 0o755); err != nil {
		return err
	}
	if err := k.writeID(); err != nil || reflect.DeepEqual(k.last, states) {
		return err
	}
	data, err := auxiliary.Seal(lastMaps{states})
	if err != nil {
		return err
	}
	if err := k.writeFile(last, data); err != nil {
		return err
	}
	k.last = maps.Clone(states)
	return nil
}

// writeFile replaces a file of the folder.
func (k *Keeper) writeFile(name string, data []byte) error {
	return auxiliary.ReplaceOn(cmp.Or[container.Disk](k.disk, container.OSDisk{}), filepath.Join(k.Dir, name), data)
}

// lost is State.Failure of a map that a node has given back.
const lost = "NATS had lost the map: repeat the change"

// mend gives the maps of the node back to a store that has lost them. No process takes a map from a
// working store, and epochs never go back, so a store with an absent or lower epoch is new, or an old
// copy. Following it would delete the files of the node.
func (k *Keeper) mend(ctx context.Context, states map[string]*State) error {
	for name, old := range k.last {
		if now := states[name]; now != nil && now.follows(old) {
			continue
		}
		now, revision, err := get(ctx, k.KV, name)
		if err == nil && !now.follows(old) {
			epoch := max(old.Epoch, now.Epoch) + 1 // no epoch twice
			now = new(*old)
			now.end(engine.OK, lost)
			now.Epoch = epoch
			_, err = put(ctx, k.KV, name, now, revision)
		}
		if err != nil { // another node may have been faster
			return fmt.Errorf("the store has lost the map of %s: %w", name, err)
		}
		states[name] = now
	}
	return nil
}

// follows reports whether a state can come after an older one: epochs do not go back, an epoch has one map,
// and a map stays until another one replaces it or the collection is removed. A map that was removed does not come back
// from a node that has missed the removal.
func (s *State) follows(old *State) bool {
	for _, m := range s.maps() {
		for _, is := range old.maps() {
			if m.Epoch == is.Epoch && !reflect.DeepEqual(m, is) {
				return false
			}
		}
	}
	if s.Failure == lost && s.Current != nil && s.Current.Epoch <= old.Removed {
		return false
	}
	if s.Epoch < old.Epoch || old.Current == nil {
		return s.Epoch >= old.Epoch
	}
	return s.Removed >= old.Current.Epoch || s.Current != nil && s.Current.Epoch >= old.Current.Epoch
}

// judge notes whether all shards of current maps are open.
func (k *Keeper) judge(states map[string]*State) {
	var err error
	for name, s := range states {
		if s.Current == nil {
			continue
		}
		for n, shard := range s.Current.Shards {
			part := Part{name, s.Current.Epoch, n}
			if _, ok := k.loaded[part]; ok || !slices.Contains(shard.Replicas, k.Node) {
				continue
			}
			err = errors.Join(err, fmt.Errorf("shard %d of %s, epoch %d, is not open: %s", n, name, part.Epoch, cmp.Or(k.failed[part].Error, "it is loading")))
		}
	}
	if states == nil {
		err = errUnknown
	}
	k.unready.Store(&err)
}

var errUnknown = errors.New("the node has no map yet")

// Ready returns nil when the node has opened all shards that the maps give it: the maps of the store,
// or the last ones. It is safe for concurrent use.
func (k *Keeper) Ready() error {
	if err := k.unready.Load(); err != nil {
		return *err
	}
	return errUnknown
}
