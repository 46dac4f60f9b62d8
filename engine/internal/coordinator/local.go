package coordinator

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"heddle/engine/failure"
	"heddle/engine/file/mapped"
	"heddle/engine/internal/fetch"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/part"
	"heddle/engine/internal/stack"
)

// Parts finds the parts that this process holds. Release ends the use of a part. An epoch or part that it does not hold
// is an error that wraps part.ErrEpoch.
type Parts interface {
	Part(name string, epoch uint64, shard int) (p *part.Part, release func(), err error)
}

// Within returns a coordinator of parts that this process holds. At most GOMAXPROCS goroutines answer at a time, one
// where the parts are small. Names of documents are asked last, for the documents of the answer alone.
func Within(maps Maps, parts Parts, opt Options) *Coordinator {
	opt.Near = true
	return New(maps, Local{parts}, opt)
}

// On returns a coordinator of other parts in this process, with the options of c.
func (c *Coordinator) On(maps Maps, parts Parts) *Coordinator { return Within(maps, parts, c.opt) }

// Local asks parts that this process holds. It implements Shards.
type Local struct{ Parts }

// use asks a shard of a fan. A fault of its file is an error.
func use[A any](l Local, f *Fan, shard int, ask func(*part.Part) (A, error)) (a A, err error) {
	defer func() { err = failure.Wrap("", err) }()
	defer mapped.Catch(mapped.Watch(), &err)
	p, release, err := l.Part(f.Layout.Name, f.Layout.Epoch, shard)
	if err != nil {
		return a, err
	}
	defer release()
	return ask(p)
}

// Terms implements Shards.
func (l Local) Terms(ctx context.Context, f *Fan, r *part.TermsRequest) ([]Piece[*part.Terms], []error) {
	return here(ctx, f, func(ctx context.Context, i int) (*part.Terms, error) {
		return use(l, f, i, func(p *part.Part) (*part.Terms, error) { return p.Terms(ctx, r) })
	})
}

// Search implements Shards.
func (l Local) Search(ctx context.Context, f *Fan, r *part.Request, filters []*filter.Filter) ([]Piece[*part.Answer], []error) {
	q := part.Prepare(r)
	return here(ctx, f, func(ctx context.Context, i int) (*part.Answer, error) {
		return use(l, f, i, func(p *part.Part) (*part.Answer, error) {
			p.First = f.Layout.Shards[i].First
			return p.Search(ctx, q, filtersOf(filters, &f.Layout.Shards[i]), r.Names)
		})
	})
}

// Facets implements Shards.
func (l Local) Facets(ctx context.Context, f *Fan, r *part.Request, filters []*filter.Filter, columns []string) ([]Piece[*Counts], []error) {
	q := part.Prepare(r)
	return here(ctx, f, func(ctx context.Context, i int) (*Counts, error) {
		return use(l, f, i, func(p *part.Part) (c *Counts, err error) {
			c = new(Counts)
			c.Matches, c.Columns, err = p.Facets(ctx, q, filtersOf(filters, &f.Layout.Shards[i]), columns)
			return c, err
		})
	})
}

// Score implements Shards.
func (l Local) Score(ctx context.Context, f *Fan, r *part.Request, doc uint32) ([]Piece[*part.Scored], []error) {
	return here(ctx, f, func(ctx context.Context, i int) (*part.Scored, error) {
		return use(l, f, i, func(p *part.Part) (*part.Scored, error) { return p.Score(ctx, part.Prepare(r), doc) })
	})
}

// Names implements Shards.
func (l Local) Names(ctx context.Context, f *Fan, docs [][]uint32) ([]Piece[[]string], []error) {
	return here(ctx, f, func(_ context.Context, i int) ([]string, error) {
		return use(l, f, i, func(p *part.Part) ([]string, error) { return p.Names(docs[i]) })
	})
}

// Documents implements Shards.
func (l Local) Documents(ctx context.Context, f *Fan, r *fetch.Request, docs []fetch.List) ([]Piece[[]fetch.Document], []error) {
	return here(ctx, f, func(ctx context.Context, i int) ([]fetch.Document, error) {
		return use(l, f, i, func(p *part.Part) ([]fetch.Document, error) { return p.Documents(ctx, r, docs[i]) })
	})
}

// Find implements Shards.
func (l Local) Find(ctx context.Context, f *Fan, name string) ([]Piece[Found], []error) {
	return here(ctx, f, func(ctx context.Context, i int) (Found, error) {
		return use(l, f, i, func(p *part.Part) (Found, error) {
			doc, ok, err := p.Find(ctx, name)
			return Found{doc, ok}, err
		})
	})
}

// List implements Shards.
func (l Local) List(ctx context.Context, f *Fan, from uint32, most int) ([]Piece[[]part.Listed], []error) {
	return here(ctx, f, func(_ context.Context, i int) ([]part.Listed, error) {
		return use(l, f, i, func(p *part.Part) ([]part.Listed, error) { return p.List(from, most) })
	})
}

// Describe implements Shards.
func (l Local) Describe(ctx context.Context, f *Fan) ([]Piece[part.Description], []error) {
	return here(ctx, f, func(_ context.Context, i int) (part.Description, error) {
		return use(l, f, i, func(p *part.Part) (part.Description, error) { return p.Describe(), nil })
	})
}

// filtersOf returns the filters for a shard.
func filtersOf(all []*filter.Filter, s *layout.Shard) (own []*filter.Filter) {
	for _, f := range all {
		own = append(own, FilterOf(f, s))
	}
	return own
}

// To start a goroutine and to wait for it wakes sleeping threads, which takes longer than a query on a
// small shard. So one goroutine asks all shards if they have little work, the number of queries times
// documents, until it has taken too long.
const (
	littleWork = 1 << 18
	tooLong    = 250 * time.Microsecond
)

// here asks each of the shards of a fan in this process.
func here[A any](ctx context.Context, f *Fan, ask func(ctx context.Context, shard int) (A, error)) (pieces []Piece[A], errs []error) {
	answers, errs := make([]A, len(f.Layout.Shards)), make([]error, len(f.Layout.Shards))
	all, stop := context.WithCancel(ctx)
	defer stop()
	var next atomic.Int64
	take := func() (more bool) {
		at := int(next.Add(1)) - 1
		if at >= len(f.Shards) {
			return false
		}
		i := f.Shards[at]
		if errs[i] = failure.Wrap("", all.Err()); errs[i] == nil {
			answers[i], errs[i] = ask(all, i)
		}
		if errs[i] != nil && !f.Partial {
			stop()
		}
		return true
	}
	work := uint64(0)
	for _, i := range f.Shards {
		work += uint64(f.Size) * f.Layout.Shards[i].Docs
	}
	more := true
	for began := time.Now(); more && work <= littleWork && time.Since(began) < tooLong; {
		more = take()
	}
	var helpers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(f.Shards)-int(next.Load())) - 1 {
		helpers.Go(func() {
			stack.Grow()
			for take() {
			}
		})
	}
	for more {
		more = take()
	}
	helpers.Wait()
	for _, i := range f.Shards {
		if errs[i] == nil {
			pieces = append(pieces, Piece[A]{[]int{i}, answers[i]})
		}
	}
	return pieces, errs
}
