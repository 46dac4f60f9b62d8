package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"time"

	"heddle/cl"
	"heddle/engine"
	"heddle/engine/index/hdl"
	"heddle/engine/plan"
)

// Lists reproduces what the papers measured of intersections on the GOV-like
// workload: opt.Figures and opt.Tables, of ListsExhibits. Tables go to stdout,
// progress to stderr, rows to opt.JSON, figures to opt.Plot, a report to
// opt.Report. It fails if two ways of answering a query differ.
func Lists(ctx context.Context, opt Options, stdout, stderr io.Writer) error {
	return reproduce(ctx, "lists", listsExhibits(), opt, stdout, stderr)
}

// Decode reproduces what the papers measured of codecs: opt.Figures and
// opt.Tables, of DecodeExhibits. Else it is as Lists.
func Decode(ctx context.Context, opt Options, stdout, stderr io.Writer) error {
	return reproduce(ctx, "decode", decodeExhibits(), opt, stdout, stderr)
}

func reproduce(ctx context.Context, name string, all []exhibit, opt Options, stdout, stderr io.Writer) (err error) {
	if opt, err = opt.withDefaults(); err != nil {
		return err
	}
	chosen, err := choose(all, opt.Figures, opt.Tables)
	if err != nil {
		return err
	}
	s := &session{bench: name, opt: opt, out: opt.tables(stdout, stderr), log: stderr,
		peaks: make(map[string]float64), readings: make(map[string][]reading),
		rowsOf: make(map[string]uint32), roaringSize: make(map[string]uint64)}
	if err := realFolder(opt.Real); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.closeDevices()) }()
	if err := s.meet(ctx); err != nil {
		return err
	}
	if s.rows, err = openRows(opt.JSON, stdout); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.forget(), s.forgetRanked()); err = s.rows.close(err) }()
	if err := s.runAll(ctx, chosen); err != nil {
		return err
	}
	return s.publish(chosen)
}

// session is the state of one call of Lists, Decode, Rank, Bitmap or Schedule.
type session struct {
	bench       string // lists, decode, rank, bitmap or schedule
	opt         Options
	rows        *rowWriter
	out, log    io.Writer
	contestants []contestant
	devices     map[access]*cl.Backend // of the one device
	others      []*cl.Device           // behind it
	real        []collection           // read once
	peaks       map[string]float64     // copy bandwidth by device, bytes a second
	readings    map[string][]reading   // by exhibit
	now         *exhibit               // the one at hand

	// Of the workload at hand:
	w       *Workload
	dict    *hdl.Dictionary
	queries []engine.Query
	check   *checker
	peer    *roaringPeer // nil until somebody wants it
	sources map[encoding]*plan.Source
	costs   map[setup]*cost
	batched map[batchRun]*batching
	single  map[setup][]float64 // milliseconds of each query alone
	open    openIndex

	ranked *rankBench         // nil until somebody wants it
	served map[string]*served // by name

	// Of bit vectors, measured once:
	bitmaps     []*bitmapCost
	autos       []*autoCost
	rowsOf      map[string]uint32 // by set
	roaringSize map[string]uint64 // of the vectors of the largest query
}

// runAll runs the exhibits that want no workload, then for each order of
// documents those that want it.
func (s *session) runAll(ctx context.Context, chosen []exhibit) error {
	for i := range chosen {
		if chosen[i].orders == nil {
			if err := s.run(ctx, &chosen[i]); err != nil {
				return err
			}
		}
	}
	for _, order := range s.opt.Orders {
		var wanted []*exhibit
		for i := range chosen {
			if e := &chosen[i]; e.orders != nil && slices.Contains(e.orders(&s.opt), order) {
				wanted = append(wanted, e)
			}
		}
		if len(wanted) == 0 {
			continue
		}
		if err := s.prepare(ctx, order); err != nil {
			return err
		}
		for _, e := range wanted {
			if err := s.run(ctx, e); err != nil {
				return err
			}
		}
		if s.check.runs > 0 {
			fmt.Fprintf(s.out, "%s\n\n", s.check)
		}
		if err := s.forget(); err != nil {
			return err
		}
	}
	return nil
}

// run runs one exhibit and prints what it has measured.
func (s *session) run(ctx context.Context, e *exhibit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.now = e
	began, before := time.Now(), len(s.readings[e.name])
	if err := e.run(ctx, s); err != nil {
		return fmt.Errorf("%s: %w", e.name, err)
	}
	e.print(s.out, s.readings[e.name][before:])
	s.logf("%s: %.1f s", e.name, time.Since(began).Seconds())
	return nil
}

// prepare generates a workload, with its queries, dictionary and checker.
func (s *session) prepare(ctx context.Context, order Order) error {
	began := time.Now()
	w, err := generate(ctx, s.opt.Seed, s.opt.themes(), order, s.opt.docs)
	if err != nil {
		return err
	}
	s.w, s.sources, s.costs, s.batched = w, make(map[encoding]*plan.Source), make(map[setup]*cost), make(map[batchRun]*batching)
	s.single = make(map[setup][]float64)
	if s.dict, err = hdl.NewDictionary(w.Terms); err != nil {
		return err
	}
	s.queries = w.engineQueries(max(s.opt.queries("cpu"), s.opt.queries("gpu")))
	s.logf("%s: generated in %.1f s", w.Name(), time.Since(began).Seconds())
	w.describe(s.out)
	fmt.Fprintln(s.out)
	s.check, err = newChecker(ctx, w, s.opt.queries("cpu"))
	return err
}

// forget drops the workload: gigabytes, of which the next one needs as many.
func (s *session) forget() error {
	err := errors.Join(s.closeIndex(), s.forgetServed())
	s.w, s.dict, s.queries, s.check, s.peer, s.sources, s.costs, s.batched, s.single = nil, nil, nil, nil, nil, nil, nil, nil, nil
	debug.FreeOSMemory()
	return err
}

// wantPeer makes the peer of the workload at hand where peers are asked for.
func (s *session) wantPeer(ctx context.Context) (err error) {
	if s.peer == nil && s.opt.Peers {
		s.logf("making the bitmaps of %s", peerName)
		s.peer, err = newRoaringPeer(ctx, s.w, s.opt.Threads)
	}
	return err
}

func (s *session) logf(format string, args ...any) { fmt.Fprintf(s.log, format+"\n", args...) }
