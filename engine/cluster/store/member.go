package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"heddle/engine/file/auxiliary"
	"heddle/engine/syntax/pattern"
)

// A cluster has an identity: a random text, which its store has under idKey and each of its nodes in
// the file idFile of its folder. The first publish gives it to the store. A store that has lost its
// data gets it back from the nodes.
const (
	idKey  = "cluster"
	idFile = "cluster"
)

var ids = pattern.New(`^[A-Z2-7]{26}$`) // the form of rand.Text

// ForeignError says that a node has the shards of another cluster than the store. Following the maps
// of the store would delete them.
type ForeignError struct {
	Dir          string // folder of the files of the node
	Mine, Stores string // identities
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("folder %s belongs to cluster %s, and the NATS servers to cluster %s: connect the node to the servers of its cluster, or give it an empty folder", e.Dir, e.Mine, e.Stores)
}

// storedID returns the identity in a store, "" if it has none.
func storedID(ctx context.Context, kv KV) (string, error) {
	id, _, err := kv.Get(ctx, idKey)
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	return string(id), err
}

// storeID gives an identity to a store that has none.
func storeID(ctx context.Context, kv KV, id string) error {
	_, err := kv.Put(ctx, idKey, []byte(id), 0)
	return err
}

// Cluster returns the identity of the cluster whose shards the node has, "" if it has none. It is safe
// for concurrent use.
func (k *Keeper) Cluster() (string, error) {
	if id := k.cluster.Load(); id != nil {
		return *id, nil
	}
	path := filepath.Join(k.Dir, idFile)
	id, err := auxiliary.Read(path, 100)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil && !ids().Match(id) {
		err = fmt.Errorf("%s: %q is no identity of a cluster", path, id)
	}
	if err != nil {
		return "", err
	}
	text := string(id)
	k.cluster.CompareAndSwap(nil, &text)
	return text, nil
}

// Belong compares the node with the store. A node without an identity takes the identity of the store,
// and a store without one gets the identity of the node. If they differ, the error is a *ForeignError.
func (k *Keeper) Belong(ctx context.Context) error {
	mine, err := k.Cluster()
	if err != nil {
		return err
	}
	stores, err := storedID(ctx, k.KV)
	switch {
	case err != nil:
		return err
	case stores == "" && mine != "":
		if err := storeID(ctx, k.KV, mine); err != nil {
			return err
		}
	case mine == "" && stores != "":
		k.cluster.Store(&stores) // writeLast writes it
	case mine != stores:
		return &ForeignError{k.Dir, mine, stores}
	}
	k.belongs = true
	return nil
}

// writeID writes the identity of the node, if its folder has none.
func (k *Keeper) writeID() error {
	id := k.cluster.Load()
	if id == nil || k.wroteID {
		return nil
	}
	if err := k.writeFile(idFile, []byte(*id)); err != nil {
		return err
	}
	k.wroteID = true
	return nil
}

// found gives a store without an identity the identity of the nodes that answer, or a new identity.
func (o Operator) found(ctx context.Context) error {
	id, err := storedID(ctx, o.KV)
	if err != nil || id != "" {
		return err
	}
	nodes, err := o.KV.Alive(ctx)
	if err != nil {
		return err
	}
	for _, is := range nodes {
		if is != "" && id != "" && is != id {
			return fmt.Errorf("nodes of two clusters answer, %s and %s: stop the nodes of one of them", id, is)
		}
		id = max(id, is)
	}
	if id == "" {
		id = rand.Text()
	}
	if err := storeID(ctx, o.KV, id); !errors.Is(err, ErrConflict) {
		return err
	}
	return nil
}

// members returns the nodes that answer and do not belong to another cluster, by name.
func (o Operator) members(ctx context.Context) (names []string, err error) {
	id, err := storedID(ctx, o.KV)
	if err != nil {
		return nil, err
	}
	nodes, err := o.KV.Alive(ctx)
	for name, is := range nodes {
		if is == "" || is == id {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, err
}
