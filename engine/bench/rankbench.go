package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"heddle/engine"
	"heddle/engine/plan"
)

// rankBench is the ranked workload at hand, the one index of it that is open, and
// what was measured.
type rankBench struct {
	s     *session
	kind  string
	w     *ranked
	check *rankChecker
	costs map[rankSetup]*rankCost
	peer  rankPeer // nil: none

	x    *engine.Index
	open rankKey
}

// rankKey says where the index of a rankBench is and how it was opened.
type rankKey struct {
	who     string
	threads int
	access  access
}

// rankBench gives the workload of a kind, which is made for the first exhibit that
// wants it, with as many queries as the contestant that answers most; that of another
// kind is dropped.
func (s *session) rankBench(ctx context.Context, kind string, draw func(queries int) (*ranked, error)) (*rankBench, error) {
	if s.ranked != nil && s.ranked.kind == kind {
		return s.ranked, nil
	}
	if err := s.forgetRanked(); err != nil {
		return nil, err
	}
	n := 0
	for _, who := range s.contestants {
		n = max(n, s.opt.rankQueries(who.info.Type))
	}
	began := time.Now()
	w, err := draw(n)
	if err != nil {
		return nil, err
	}
	s.logf("%s: generated in %.1f s", w.name, time.Since(began).Seconds())
	w.describe(s.out)
	began = time.Now()
	b := &rankBench{s: s, kind: kind, w: w, costs: make(map[rankSetup]*rankCost)}
	if b.check, err = newRankChecker(ctx, w, s.opt.rankQueries("cpu"), plan.MaxK); err != nil {
		return nil, err
	}
	s.logf("%s: plain scores of a sample in %.1f s", w.name, time.Since(began).Seconds())
	s.ranked = b
	return b, nil
}

// forgetRanked drops the ranked workload: gigabytes.
func (s *session) forgetRanked() error {
	err := s.ranked.close()
	s.ranked = nil
	debug.FreeOSMemory()
	return err
}

// close closes the index and says what was verified.
func (b *rankBench) close() error {
	if b == nil {
		return nil
	}
	if b.check.runs > 0 {
		fmt.Fprintf(b.s.out, "%s\n\n", b.check)
	}
	err := b.closeIndex()
	if b.peer != nil {
		err = errors.Join(err, b.peer.close())
	}
	if b.w.release != nil {
		err = errors.Join(err, b.w.release())
	}
	return err
}

func (b *rankBench) closeIndex() error {
	x := b.x
	if b.x = nil; x == nil {
		return nil
	}
	return x.Close()
}

// index opens the workload on a contestant, or gives the index that is open.
func (b *rankBench) index(ctx context.Context, who contestant, threads int, a access) (*engine.Index, error) {
	if a == alone {
		a = busy // one query at a time is alone
	}
	k := rankKey{who.name, threads, a}
	if b.x != nil && b.open == k {
		return b.x, nil
	}
	if err := b.closeIndex(); err != nil {
		return nil, err
	}
	x, err := b.s.newIndex(ctx, who, threads, a, b.w.source, b.w.dict)
	if err == nil {
		b.x, b.open = x, k
	}
	return x, err
}
