// Package store keeps the maps of a cluster and changes them. A collection has one key, which
// holds its map and the running change. Each step of a change is one compare-and-set of this
// key, so any process may take the next step, and any process may end at any time.
//
// A change is an intent: the map that is to come, with an epoch of its own. The nodes of this map
// fetch their shards, open them beside the present shards, and report it. When all nodes are ready,
// the map changes. If a node fails, the intent ends and the present map stays.
package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"heddle/engine"
	"heddle/engine/internal/layout"
	"heddle/engine/syntax/pattern"
)

// State is all that the cluster knows of a collection.
type State struct {
	// Epoch is the greatest epoch that a map or an intent ever had. It outlives the collection,
	// so that no two maps share an epoch.
	Epoch   uint64      `json:"epoch"`
	Current *layout.Map `json:"current,omitempty"` // nil if the collection is not served
	Intent  *Intent     `json:"intent,omitempty"`  // nil if no change is running
	Failure string      `json:"failure,omitempty"` // why the last intent ended without effect
	// Code is the class of Failure; engine.OK if no node has stated one.
	Code engine.Code `json:"code,omitzero"`
	// Sources are the URLs and folders that had the files of Current. A node with a damaged file asks them.
	Sources []string `json:"sources,omitempty"`
	// Removed is Epoch at the time of the last removal; 0 if the collection was never removed. It tells a
	// removal from a store that has lost the map.
	Removed uint64 `json:"removed,omitempty"`
}

// Intent is a running change.
type Intent struct {
	Verb    string      `json:"verb"` // publish, move, drain or rebalance
	Target  *layout.Map `json:"target"`
	Sources []string    `json:"sources,omitempty"` // URLs and folders of files that no node holds
}

// Part names a shard of an epoch on a node.
type Part struct {
	Name  string `json:"name"`
	Epoch uint64 `json:"epoch"`
	Shard int    `json:"shard"`
}

// Report is the state of a node. Only the node writes it.
type Report struct {
	URL    string    `json:"url,omitempty"` // base URL of the node
	Free   uint64    `json:"free"`          // bytes
	Loaded []Opened  `json:"loaded,omitempty"`
	Failed []Failure `json:"failed,omitempty"`
	Held   []string  `json:"held,omitempty"` // checksums of complete files
	// Damaged are the files that the process has found damaged, the newest last.
	Damaged []Damage `json:"damaged,omitempty"`
}

// Opened is a shard that a node serves, with the checksum of its file.
type Opened struct {
	Part
	SHA256 string `json:"sha256"`
}

// Failure is a shard that a node cannot load. The node tries again unless it is final.
type Failure struct {
	Part
	Error string      `json:"error"`
	Code  engine.Code `json:"code,omitzero"`
	Final bool        `json:"final,omitempty"`
}

// names matches the names of collections and nodes.
var names = pattern.New(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

// CheckName returns an error unless a collection or node may have the name.
func CheckName(name string) error {
	if len(name) > 128 || !names().MatchString(name) {
		return fmt.Errorf("name %q: use 1 to 128 letters, digits, - and _, and single dots between them", name)
	}
	return nil
}

// Validate returns an error that names the first wrong member.
func (s *State) Validate() error {
	if s.Current != nil {
		if err := validMap(s.Current, s.Epoch); err != nil {
			return fmt.Errorf("current.%w", err)
		}
	}
	if s.Intent == nil {
		return nil
	}
	switch {
	case s.Intent.Target == nil:
		return errors.New("intent.target is missing")
	case s.Intent.Target.Epoch != s.Epoch:
		return fmt.Errorf("intent.target.epoch is %d: want the greatest epoch, %d", s.Intent.Target.Epoch, s.Epoch)
	case s.Current != nil && s.Current.Epoch >= s.Epoch:
		return fmt.Errorf("current.epoch is %d: want less than that of the intent, %d", s.Current.Epoch, s.Epoch)
	}
	if err := validMap(s.Intent.Target, s.Epoch); err != nil {
		return fmt.Errorf("intent.target.%w", err)
	}
	return nil
}

func validMap(m *layout.Map, most uint64) error {
	if err := m.Validate(); err != nil {
		return err
	}
	if m.Epoch == 0 || m.Epoch > most {
		return fmt.Errorf("epoch is %d: want 1 to %d", m.Epoch, most)
	}
	for i, s := range m.Shards {
		if len(s.Replicas) == 0 {
			return fmt.Errorf("shards[%d].replicas is empty", i)
		}
		for r, node := range s.Replicas {
			if CheckName(node) != nil || slices.Contains(s.Replicas[:r], node) {
				return fmt.Errorf("shards[%d].replicas[%d] is %q: want the name of another node", i, r, node)
			}
		}
	}
	return nil
}

// decode reads a state.
func decode(data []byte) (*State, error) {
	s := new(State)
	if err := json.Unmarshal(data, s); err != nil {
		return nil, err
	}
	return s, s.Validate()
}

// Advance returns the state after the next step of its intent. ok is false if no step is
// possible yet. It does not wait for dead nodes: another replica of the shard suffices.
func (s *State) Advance(reports map[string]*Report, dead []string) (next *State, ok bool) {
	if s.Intent == nil {
		return nil, false
	}
	target, ready := s.Intent.Target, true
	fail := func(code engine.Code, format string, args ...any) (*State, bool) {
		text := fmt.Sprintf("%s of epoch %d: ", s.Intent.Verb, target.Epoch) + fmt.Sprintf(format, args...)
		next := new(*s)
		next.end(code, text)
		return next, true
	}
	for n, shard := range target.Shards {
		part, alive := Part{target.Name, target.Epoch, n}, false
		for _, node := range shard.Replicas {
			if slices.Contains(dead, node) {
				continue
			}
			alive = true
			r := reports[node]
			if r == nil {
				ready = false
				continue
			}
			for _, f := range r.Failed {
				if f.Part == part && f.Final {
					return fail(f.Code, "node %s, shard %d: %s", node, n, f.Error)
				}
			}
			ready = ready && slices.Contains(r.Loaded, Opened{part, shard.SHA256})
		}
		if !alive {
			return fail(engine.OK, "shard %d is for nodes %v alone, which do not answer: repeat the command, which takes other nodes", n, shard.Replicas)
		}
	}
	next = new(*s)
	next.end(engine.OK, "")
	if next.Current = target; s.Intent.Sources != nil { // no move
		next.Sources = s.Intent.Sources
	}
	return next, ready
}

// end ends the intent, with the reason why it had no effect.
func (s *State) end(code engine.Code, failure string) {
	s.Intent, s.Code, s.Failure = nil, code, failure
}

// maps are the maps whose shards nodes must hold.
func (s *State) maps() []*layout.Map {
	var all []*layout.Map
	if s.Current != nil {
		all = append(all, s.Current)
	}
	if s.Intent != nil {
		all = append(all, s.Intent.Target)
	}
	return all
}
