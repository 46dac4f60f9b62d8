package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"

	"github.com/BurntSushi/toml"

	"heddle/engine"
	"heddle/engine/internal/layout"
	"heddle/engine/syntax"
)

// Static is a cluster without NATS: its maps come from a file, and its nodes have URLs. It
// implements Maps and Dialer. It is safe for concurrent use.
type Static struct {
	// Client sends the requests. Default: one that keeps connections to each node open.
	Client *http.Client

	path  string
	mu    sync.Mutex
	nodes map[string]string
	maps  map[string]*layout.Map
}

// staticFile is the form of the file.
type staticFile struct {
	// Nodes are the URLs of nodes by name. A name of DNS may have several addresses: each
	// connection goes to one of them.
	Nodes map[string]string `json:"nodes"`
	// Collections are maps with replicas.
	Collections []*layout.Map `json:"collections"`
}

// Open reads the file of a static cluster, in JSON, or in TOML if its name ends in ".toml". The
// error names the file and the member at fault.
func Open(path string) (*Static, error) {
	keep := http.DefaultTransport.(*http.Transport).Clone()
	keep.MaxIdleConns, keep.MaxIdleConnsPerHost = 0, 64
	s := &Static{Client: &http.Client{Transport: keep}, path: path}
	return s, s.read()
}

func (s *Static) read() error {
	data, err := os.ReadFile(s.path)
	if err != nil {
		return err
	}
	f, found, err := parseFile(data, filepath.Ext(s.path) == ".toml")
	if err != nil {
		return &engine.Error{Code: engine.InvalidOption, Op: "read cluster", Err: fmt.Errorf("%s: %w", s.path, err)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes, s.maps = f.Nodes, found
	return nil
}

// parseFile reads the file of a cluster, and returns its collections by name.
func parseFile(data []byte, inTOML bool) (f *staticFile, found map[string]*layout.Map, err error) {
	if inTOML { // both forms have the same members
		var tree map[string]any
		if err = toml.Unmarshal(data, &tree); err != nil {
			return nil, nil, err
		}
		if data, err = json.Marshal(tree); err != nil {
			return nil, nil, err
		}
	}
	f, found = new(staticFile), map[string]*layout.Map{}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, nil, syntax.JSON(data, err)
	}
	return f, found, f.check(found)
}

// check validates the file and adds its collections to found.
func (f *staticFile) check(found map[string]*layout.Map) error {
	if len(f.Collections) == 0 {
		return errors.New("collections is empty: name an index or a table (a manifest is a collection of this file, not the file itself)")
	}
	for name, at := range f.Nodes {
		if u, err := url.Parse(at); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("nodes.%s: %q: want http://HOST:PORT or https://HOST:PORT", name, at)
		}
	}
	for i, m := range f.Collections {
		if m == nil || m.Name == "" {
			return fmt.Errorf("collections[%d]: name is empty", i)
		}
		if found[m.Name] != nil {
			return fmt.Errorf("collections[%d].name: %q occurs twice", i, m.Name)
		}
		if err := m.Validate(); err != nil {
			return fmt.Errorf("collections[%d] (%s): %w", i, m.Name, err)
		}
		for n, s := range m.Shards {
			if len(s.Replicas) == 0 {
				return fmt.Errorf("collections[%d].shards[%d].replicas is empty: name a node", i, n)
			}
			for _, r := range s.Replicas {
				if f.Nodes[r] == "" {
					return fmt.Errorf("collections[%d].shards[%d].replicas: node %q has no URL in nodes", i, n, r)
				}
			}
		}
		found[m.Name] = m
	}
	return nil
}

// Map implements Maps.
func (s *Static) Map(_ context.Context, name string) (*layout.Map, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.maps[name]; m != nil {
		return m, nil
	}
	return nil, &engine.Error{Code: engine.NotFound, Op: "find collection", Err: fmt.Errorf("%s: no collection is named %s", s.path, syntax.Quote(name))}
}

// Names implements Maps.
func (s *Static) Names(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.maps)), nil
}

// Refresh implements Maps: it reads the file again.
func (s *Static) Refresh(ctx context.Context, name string) (*layout.Map, error) {
	if err := s.read(); err != nil {
		return nil, err
	}
	return s.Map(ctx, name)
}

// mostReply bounds a reply of a node in bytes.
const mostReply = 1 << 30

// Dial implements Dialer.
func (s *Static) Dial(node string) (connect.Transport, error) {
	s.mu.Lock()
	at, ok := s.nodes[node]
	s.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("%s: node %q has no URL in nodes", s.path, node)
	}
	return connecthttp.NewTransport(s.Client, at, connecthttp.WithReadMaxBytes(mostReply)), nil
}
