package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"heddle/engine/cluster/fetch"
)

// Status is the state of a cluster.
type Status struct {
	Collections map[string]*State  `json:"collections"`
	Nodes       map[string]*Report `json:"nodes"`
	Alive       []string           `json:"alive"`
	Cluster     string             `json:"cluster,omitempty"` // identity; "" before the first publish
	Draining    []string           `json:"draining"`
}

// Status reads the state of the cluster.
func (o Operator) Status(ctx context.Context) (s *Status, err error) {
	s = new(Status)
	if s.Collections, err = readAll(ctx, o.KV); err != nil {
		return nil, err
	}
	if s.Nodes, err = Reports(ctx, o.KV); err != nil {
		return nil, err
	}
	if s.Alive, err = o.members(ctx); err != nil {
		return nil, err
	}
	if s.Cluster, err = storedID(ctx, o.KV); err != nil {
		return nil, err
	}
	s.Draining, err = list(ctx, o.KV, drainKey)
	return s, err
}

// tell writes the report of the node, unless the store has the same report. The report of another process under
// the name of the node is an error: both have begun while NATS could not connect them.
func (k *Keeper) tell(ctx context.Context) error {
	r := Report{URL: k.URL, Free: fetch.Free(k.Dir) >> 30 << 30, Damaged: k.health.damages}
	for _, p := range slices.SortedFunc(maps.Keys(k.loaded), Part.compare) {
		r.Loaded = append(r.Loaded, Opened{p, k.loaded[p]})
	}
	for _, p := range slices.SortedFunc(maps.Keys(k.failed), Part.compare) {
		r.Failed = append(r.Failed, k.failed[p])
	}
	found, err := os.ReadDir(filepath.Join(k.Dir, "files"))
	if err != nil {
		return err
	}
	for _, f := range found {
		if sum, ext, _ := strings.Cut(f.Name(), "."); ext == "hdl" || ext == "hdb" {
			r.Held = append(r.Held, sum)
		}
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	old, revision, err := k.KV.Get(ctx, nodeKey+k.Node)
	if err != nil && !errors.Is(err, ErrNotFound) || bytes.Equal(data, old) {
		return err
	}
	if _, err = k.KV.Put(ctx, nodeKey+k.Node, data, revision); err != nil {
		return err
	}
	former := k.told
	k.told = data
	var other Report
	if former == nil || old == nil || bytes.Equal(old, former) || json.Unmarshal(old, &other) != nil || other.URL == k.URL {
		return nil
	}
	return fmt.Errorf("another process, at %s, reports as node %s: end one of the two", other.URL, k.Node)
}

func (p Part) compare(q Part) int {
	return cmp.Or(cmp.Compare(p.Name, q.Name), cmp.Compare(p.Epoch, q.Epoch), cmp.Compare(p.Shard, q.Shard))
}
