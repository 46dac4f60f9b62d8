// Package inspect shows the engine at work: the way of a query, the contents of indexes and tables,
// counters, the machine and the cluster. The web console and other programs read it.
package inspect

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/protobuf/types/known/structpb"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/observe/meter"
)

// Sources are the parts of a server that the service describes.
type Sources struct {
	// Snapshot returns the content of an index, which the service closes. The error of an unknown
	// name has code NotFound.
	Snapshot func(index string) (*engine.Snapshot, error)
	// Collection returns the newest state of a collection, which the service closes; nil for another name.
	Collection func(name string) (*engine.CollectionSnapshot, error)
	// Ask answers a query on a collection.
	Ask func(ctx context.Context, name string, q engine.Query, ask api.Ask) (api.Hits, error)
	// Score returns the score that a ranked query gives to a document of an index, a collection or a cluster.
	Score func(ctx context.Context, index string, q engine.Query, id uint64) (*api.ScoreExplanation, error)
	// Table returns a table. The error of an unknown name has code NotFound.
	Table func(name string) (*engine.Table, error)
	// Engine returns the engine.
	Engine func() (*engine.Engine, error)
	// Query returns the query of a request with the limits of the server.
	Query func(ctx context.Context, r Asked, timeoutMs uint32) (engine.Query, error)
	// Facets returns the facets of a request; nil for none. FacetAnswer is their answer.
	Facets      func(r Counted) (*engine.Facets, error)
	FacetAnswer func(matches uint64, all []engine.Facet) *api.FacetAnswer
	// Rank makes q a ranked query for k documents, with the limits of the server.
	Rank func(q *engine.Query, k uint32, total *structpb.Value, s *api.Scoring) error
	// Combine sets the scores of words in several fields, and of prefixes and tolerant words.
	Combine func(q *engine.Query, tie *float64, expand string) error
	// Page sets the order and the page of a query.
	Page func(q *engine.Query, index string, r Paged, after string) error
	// Attributes returns the attribute table of an index.
	Attributes func(index string) (*engine.Table, error)
	// Selection returns the selection of a predicate with the limits of the server.
	Selection func(ctx context.Context, where string, timeoutMs uint32) engine.Selection
	// Remote is true if indexes and tables lie in a cluster.
	Remote bool

	// Meter counts the queries of the engine. Default: nil, times and errors are unknown.
	Meter *meter.Meter
	// Machine describes the machine. Default: nil, code Unsupported.
	Machine func(ctx context.Context) (*api.Machine, error)
	// Cluster describes the cluster. Default: nil, there is none.
	Cluster func(ctx context.Context) (*api.Cluster, error)
	// Ended is closed when the server drains.
	Ended <-chan struct{}
}

// Asked are the fields that all queries have.
type Asked interface {
	GetQuery() string
	GetLiteral() bool
	GetTerms() []string
	GetMode() string
	GetIndex() string
	GetFilter() *api.Filter
}

// Counted are the fields of queries with facets.
type Counted interface {
	GetIndex() string
	GetFacets() *api.Facets
}

// Paged are the members of a query that choose its order and page.
type Paged interface {
	GetOffset() uint32
	GetSort() []string
	GetMinScore() float64
	GetMode() string
	GetCollapse() string
	GetCollapseLimit() uint32
	GetBoost() *api.Boost
}

// Service implements api.InspectServiceHandler. It is safe for concurrent use.
type Service struct {
	Sources
	start mark // values of the counters at the start
	past  history

	copying sync.Mutex
	copies  map[string]float64 // by processor: see copyRate
}

// New returns a service on the parts of a server.
func New(s Sources) *Service { return &Service{Sources: s, start: begin()} }

// table returns a table on this machine.
func (s *Service) table(name string) (*engine.Table, error) {
	if s.Remote {
		return nil, elsewhere("table", name)
	}
	return s.Table(name)
}

func elsewhere(kind, name string) error {
	return &engine.Error{Code: engine.Unsupported, Op: "inspect", Err: fmt.Errorf("the shards of %s %s lie on the nodes of the cluster: ask one of the nodes, or search with \"explain\"", kind, name)}
}

func badRequest(format string, args ...any) error {
	return &engine.Error{Code: engine.InvalidOption, Op: "read request", Err: fmt.Errorf(format, args...)}
}

// GetMachine implements api.InspectServiceHandler.
func (s *Service) GetMachine(ctx context.Context, _ *api.GetMachineRequest) (*api.Machine, error) {
	if s.Machine == nil {
		return nil, &engine.Error{Code: engine.Unsupported, Op: "describe machine", Err: fmt.Errorf("this server cannot search for devices")}
	}
	m, err := s.Machine(ctx)
	if err != nil {
		return nil, err
	}
	e, err := s.Engine()
	if err != nil {
		return nil, err
	}
	for _, p := range e.Processors() {
		for _, place := range m.GetPlaces() {
			if place.GetKind() == p.Info.Kind && place.GetDevice() == p.Info.Device {
				place.Open, place.Reason = p.Removed == nil, p.Reason
			}
		}
	}
	return m, nil
}

// GetCluster implements api.InspectServiceHandler.
func (s *Service) GetCluster(ctx context.Context, _ *api.GetClusterRequest) (*api.Cluster, error) {
	if s.Cluster == nil {
		return &api.Cluster{}, nil
	}
	return s.Cluster(ctx)
}
