// Package coordinator answers queries from the parts of an index. It joins the statistics of terms, and merges hits,
// totals and facets. Its answers equal the answers of one index with all documents: the same documents, the same scores,
// the same order. It asks the parts through the interface Shards: they lie in this process, or on the nodes of a cluster.
package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"heddle/engine/failure"
	"heddle/engine/internal/fetch"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/order"
	"heddle/engine/internal/part"
	"heddle/engine/internal/query"
	"heddle/engine/plan"
	"heddle/engine/syntax"
	"heddle/engine/table/facet"
	"heddle/engine/table/partial"
)

// Maps is the source of the maps of collections.
type Maps interface {
	// Map returns the map of a collection. The error of an unknown name has code failure.NotFound.
	Map(ctx context.Context, name string) (*layout.Map, error)
	// Refresh bypasses caches, after a node has refused an epoch.
	Refresh(ctx context.Context, name string) (*layout.Map, error)
	// Names returns the names of all collections.
	Names(ctx context.Context) ([]string, error)
}

// Shards asks the shards of a fan. Each method returns the answers in the order of their first shards, and the errors
// by shard. An error that wraps part.ErrEpoch says that a holder of a shard has another epoch.
type Shards interface {
	Terms(context.Context, *Fan, *part.TermsRequest) ([]Piece[*part.Terms], []error)
	// Search and Facets give the filters of the queries in the numbers of the whole: see FilterOf.
	Search(context.Context, *Fan, *part.Request, []*filter.Filter) ([]Piece[*part.Answer], []error)
	Facets(context.Context, *Fan, *part.Request, []*filter.Filter, []string) ([]Piece[*Counts], []error)
	// Score asks one shard: see part.Part.Score.
	Score(ctx context.Context, f *Fan, r *part.Request, doc uint32) ([]Piece[*part.Scored], []error)
	// Names returns the names of documents, by shard, one after the other.
	Names(ctx context.Context, f *Fan, docs [][]uint32) ([]Piece[[]string], []error)
	// Documents returns documents, by shard, one after the other.
	Documents(ctx context.Context, f *Fan, r *fetch.Request, docs []fetch.List) ([]Piece[[]fetch.Document], []error)
	// Find returns the document with a name: see part.Part.Find.
	Find(ctx context.Context, f *Fan, name string) ([]Piece[Found], []error)
	// List returns documents of one shard: see part.Part.List.
	List(ctx context.Context, f *Fan, from uint32, most int) ([]Piece[[]part.Listed], []error)
	Describe(context.Context, *Fan) ([]Piece[part.Description], []error)
}

// Found is a document of a shard, if there is one.
type Found struct {
	Doc uint32
	OK  bool
}

// Fan is a request to shards.
type Fan struct {
	Layout  *layout.Map
	Shards  []int // ascending; nil: all that have not failed in an earlier request
	Size    int   // number of queries
	Groups  bool  // one answer may be of several shards
	Partial bool  // an error of a shard does not end the requests to other shards
}

// Piece is the answer for some shards, ascending.
type Piece[A any] struct {
	Shards []int
	Answer A
}

// Counts are the states of facets of a shard.
type Counts struct {
	Matches uint64 // matching documents
	Columns []*partial.State
}

// Query is a query on a collection: see engine.Query. Its filter has no tables.
type Query struct {
	Text    string
	Literal bool
	Terms   []string
	Weights []float64
	Filter  *filter.Filter // nil: all documents
	Fetch   *fetch.Ask     // parts of the documents; nil: none
	query.Options
	Offset  int         // best documents to leave out
	After   string      // cursor of the page before, or order.Begin; empty: the answer has no cursor
	Order   *order.Spec // nil: the descending score from the first document on
	Fault   error       // why the query is invalid; nil: it may be valid
	Caller  string
	Timeout time.Duration // 0: the time-out of the coordinator; negative: none
}

// Ask says which parts the answer of queries has: see api.Ask.
type Ask struct {
	Names        bool
	Limit        uint64
	Explain      bool
	AllowPartial bool
	Facets       *facet.Ask              // nil: none
	Take         func(bytes int64) error // called with the size of each document; nil: not called
}

// Hits is the answer of a query on a collection, whose document numbers have 64 bits. See
// engine.Hits.
type Hits struct {
	// Count is the number of matching documents; of a ranked query the number of IDs.
	Count uint64
	// IDs are document numbers: ascending, or of a ranked query by descending score, then
	// ascending number. It is nil if only the count was asked for.
	IDs []uint64
	// Scores of IDs, of a ranked query.
	Scores []float64
	// Names of IDs, if they were asked for.
	Names []string
	// Documents are the parts of IDs that Query.Fetch asked for.
	Documents []fetch.Document
	// After is the cursor of the next page, if Query.After asked for it.
	After string
	// Total is the number of matching documents, if Query.Total asked for it.
	Total plan.Total
	// Matches is the number of matching documents, and Facets are the facets, if they were asked for.
	Matches uint64
	Facets  []facet.Facet
	// Err says why a query of a batch is invalid.
	Err error
	// Explanation is the way of the query through each shard, and Queued is the longest wait for a processor there, if they were asked for.
	Explanation string
	Queued      time.Duration
	// Note says which parts of the text have no effect.
	Note string

	last *order.Place // of an answer with an order
}

// Options rule a coordinator. The zero value is the default.
type Options struct {
	Timeout time.Duration // time of a query that names none; 0: 30 s; negative: none
	Limits  limit.Limits  // limits of facets
	Near    bool          // the shards are in this process: names of documents are asked last
}

// Coordinator answers queries from shards. It is safe for concurrent use.
type Coordinator struct {
	Maps
	shards Shards
	opt    Options

	mu          sync.Mutex
	collections map[string]*Collection
}

// New returns a coordinator.
func New(maps Maps, shards Shards, opt Options) *Coordinator {
	opt.Timeout = cmp.Or(opt.Timeout, 30*time.Second)
	return &Coordinator{Maps: maps, shards: shards, opt: opt, collections: map[string]*Collection{}}
}

// Collection is an epoch of an index or table, with the facts that hold as long as the epoch.
type Collection struct {
	Layout *layout.Map
	terms  terms    // statistics of terms in all shards together
	shards []*terms // statistics of terms in each shard that has answered alone; epochs share them

	described atomic.Pointer[part.Description] // of one shard; nil: not asked for yet

	once    sync.Once
	content string // name of the epoch and its content in cursors, after once
}

// collection returns the collection of a map.
func (c *Coordinator) collection(m *layout.Map) *Collection {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.collections[m.Name]
	if x == nil || x.Layout.Epoch != m.Epoch {
		old := x
		x = &Collection{Layout: m}
		share(x, old)
		c.collections[m.Name] = x
	}
	return x
}

// attempts of a query, each with the map of that time.
const attempts = 3

// Run calls f with the collection of a name, and again with a newer map while nodes refuse the
// epoch. All parts of an answer so belong to one epoch.
func (c *Coordinator) Run(ctx context.Context, name string, kind layout.Kind, f func(context.Context, *Collection) error) error {
	m, err := c.Map(ctx, name)
	for try := 1; ; try++ {
		if err == nil && m.Kind != kind || failure.CodeOf(err) == failure.NotFound {
			err = &failure.Error{Code: failure.NotFound, Op: "find " + string(kind), Err: fmt.Errorf("no %s is named %s", kind, syntax.Quote(name))}
		}
		if err != nil {
			return err
		}
		if err = f(ctx, c.collection(m)); !errors.Is(err, part.ErrEpoch) {
			return err
		}
		if try == attempts { // the map and the nodes still differ
			return &failure.Error{Code: failure.Unavailable, Op: "call", Err: err}
		}
		m, err = c.Refresh(ctx, name)
	}
}

// Layouts returns the maps of all collections in the order of their names.
func (c *Coordinator) Layouts(ctx context.Context) (all []*layout.Map, err error) {
	names, err := c.Maps.Names(ctx)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		m, err := c.Map(ctx, name)
		if failure.CodeOf(err) == failure.NotFound { // removed in between
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// Deadline bounds a query that names no other time-out.
func (c *Coordinator) Deadline(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout = cmp.Or(timeout, c.opt.Timeout); timeout < 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}

// Describe describes an index: Lists is the sum of all shards, also of each field, and the checksum is one of the checksums of all shards.
func (c *Coordinator) Describe(ctx context.Context, index string) (d part.Description, err error) {
	ctx, cancel := c.Deadline(ctx, 0)
	defer cancel()
	err = c.Run(ctx, index, layout.Index, func(ctx context.Context, x *Collection) error {
		all, err := Spread(ctx, &Reach{Collection: x}, Fan{}, c.shards.Describe)
		sum := fnv.New64a()
		d = part.Description{}
		for _, p := range all {
			d.Docs, d.Lists, d.Fields = d.Docs+p.Answer.Docs, d.Lists+p.Answer.Lists, part.AddFields(d.Fields, p.Answer.Fields)
			fmt.Fprintln(sum, p.Answer.Checksum)
		}
		d.Checksum = fmt.Sprintf("%016x", sum.Sum64())
		return err
	})
	return d, err
}
