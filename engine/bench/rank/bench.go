package rank

import (
	"context"
	"errors"
	"fmt"

	"heddle/engine/bench/harness"
)

// Family measures ranked retrieval and reproduces the measurements of papers.
var Family = WithLibrary(nil)

// WithLibrary returns the family with another library, which exhibit "text" measures
// beside heddle. nil: none.
func WithLibrary(other *Library) harness.Family {
	return harness.Family{
		Name: "rank",
		Size: func(o *harness.Options) string { return fmt.Sprintf("%d documents", o.Docs) },
		Exhibits: func(r *harness.Runner) []harness.Exhibit {
			s := newBench(r, other)
			return []harness.Exhibit{s.gov2Exhibit(), s.dingTable2(), s.dingTable3(), s.accumulatorsExhibit(), s.residentExhibit(),
				s.figureK(), s.figureFootprint(), s.reorderedExhibit(), s.sparseExhibit(), s.textExhibit(), s.pisaExhibit()}
		},
	}
}

// bench measures ranked retrieval. It holds the one open index of the current workload
// and the costs measured so far.
type bench struct {
	*WorkloadBench
	other *Library // nil: none
	costs map[setup]*cost
	peer  Peer // nil: none is open

	x    *harness.Index
	open indexKey
}

// indexKey identifies the open index: its contestant and how it was opened.
type indexKey struct {
	who     string
	threads int
	access  harness.Access
}

func newBench(r *harness.Runner, other *Library) *bench {
	b := &bench{WorkloadBench: NewWorkloadBench(r), other: other}
	b.OnRelease = b.release
	return b
}

// release closes the backends and indexes of the current workload.
func (b *bench) release() error {
	err := b.closeIndex()
	if b.peer != nil {
		err = errors.Join(err, b.peer.Close())
	}
	b.costs, b.peer = make(map[setup]*cost), nil
	return err
}

func (b *bench) closeIndex() error {
	x := b.x
	if b.x = nil; x == nil {
		return nil
	}
	return x.Close()
}

// index opens the workload on a contestant, or returns the open index.
func (b *bench) index(ctx context.Context, who harness.Contestant, threads int, a harness.Access) (*harness.Index, error) {
	if a == harness.Alone {
		a = harness.Busy // queries that run one at a time do not overlap
	}
	k := indexKey{who.Name, threads, a}
	if b.x != nil && b.open == k {
		return b.x, nil
	}
	if err := b.closeIndex(); err != nil {
		return nil, err
	}
	x, err := harness.NewIndex(ctx, b.Runner, who, threads, a, b.W.Source, b.W.Dict)
	if err == nil {
		b.x, b.open = x, k
	}
	return x, err
}
