// Package harness runs families of benchmarks: it reads options, opens backends, runs
// exhibits, and prints tables, rows, pictures and reports.
package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"heddle/cl"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
)

// Family is a set of exhibits that one command measures, with shared state.
type Family struct {
	// Name of the command and of the field "bench" in rows.
	Name string
	// Size describes the size of the workload for the report.
	Size func(o *Options) string
	// Exhibits returns the exhibits in the order of measurement. They share the
	// runner and any state that the function creates.
	Exhibits func(r *Runner) []Exhibit
}

// Headings describes the exhibits. Each line starts with a name.
func (f Family) Headings() (lines []string) {
	for _, e := range f.Exhibits(new(Runner)) {
		lines = append(lines, e.Heading())
	}
	return lines
}

// Check reports a name in opt that does not exist: an exhibit that the family lacks, a
// collection or a log.
func (f Family) Check(opt Options) error {
	if _, err := choose(f.Exhibits(new(Runner)), opt.Figures, opt.Tables); err != nil {
		return err
	}
	return opt.checkNames()
}

// Run measures the exhibits that opt names, or all of them. Tables go to stdout,
// progress to stderr, rows to opt.JSON, pictures to opt.Plot, and a report to
// opt.Report. It fails if two ways of answering a query disagree.
func (f Family) Run(ctx context.Context, opt Options, stdout, stderr io.Writer) (err error) {
	r, err := NewRunner(f, opt, stdout, stderr)
	if err != nil {
		return err
	}
	opt = r.Opt
	chosen, err := choose(f.Exhibits(r), opt.Figures, opt.Tables)
	if err != nil {
		return err
	}
	if err := realFolder(opt.Real); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.closeDevices()) }()
	if err := r.meet(ctx); err != nil {
		return err
	}
	if r.rows, err = measure.Open(opt.JSON, stdout); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.endData(), r.end()); err = r.rows.Close(err) }()
	if err := r.runAll(ctx, chosen); err != nil {
		return err
	}
	return r.publish(chosen)
}

// Runner measures the exhibits of one family: it holds the options, the open
// backends and the figures measured so far. Families embed it. It is not safe for
// concurrent use.
type Runner struct {
	family      Family
	Opt         Options
	Out, log    io.Writer // tables; progress
	rows        *measure.Writer
	unwritten   error // the first error of writing a row
	Contestants []Contestant
	devices     map[Access]*cl.Backend // the measured device, by access
	Others      []*cl.Device           // the other devices that match the options
	peaks       map[string]float64     // copy bandwidth by device, bytes per second
	readings    map[string][]Reading   // by exhibit
	now         *Exhibit               // the exhibit that runs

	workload string // name of the current workload; empty between workloads
	set      string // name of its collection
	data     dataHooks
	atEnd    []func() error
}

// NewRunner returns a runner without open backends. It fills the defaults of the options.
func NewRunner(f Family, opt Options, stdout, stderr io.Writer) (*Runner, error) {
	opt, err := opt.withDefaults()
	return &Runner{family: f, Opt: opt, Out: opt.tables(stdout, stderr), log: stderr, rows: new(measure.Writer), now: new(Exhibit),
		peaks: make(map[string]float64), readings: make(map[string][]Reading)}, err
}

// dataHooks make and release the workload of one collection.
type dataHooks struct {
	prepare func(ctx context.Context, d workload.DataSet) (name string, err error)
	summary func() string // result of the verification; empty if nothing ran
	forget  []func() error
}

// OnData registers the functions that make a workload of a collection and describe its
// verification.
func (r *Runner) OnData(prepare func(ctx context.Context, d workload.DataSet) (name string, err error), summary func() string) {
	r.data.prepare, r.data.summary = prepare, summary
}

// OnForget registers a function that releases memory of the current workload. It
// may run several times.
func (r *Runner) OnForget(f func() error) { r.data.forget = append(r.data.forget, f) }

// OnEnd registers a function that runs once, after the last exhibit.
func (r *Runner) OnEnd(f func() error) { r.atEnd = append(r.atEnd, f) }

func (r *Runner) end() error { return callAll(r.atEnd) }

// endData releases the current workload.
func (r *Runner) endData() error {
	r.workload = ""
	return callAll(r.data.forget)
}

// callAll calls all functions and joins their errors.
func callAll(all []func() error) error {
	var errs []error
	for _, f := range all {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// runAll runs the exhibits that need no workload. Then it makes one workload for
// each collection, and runs the exhibits that use it.
func (r *Runner) runAll(ctx context.Context, chosen []Exhibit) error {
	for i := range chosen {
		if chosen[i].Data == nil {
			if err := r.run(ctx, &chosen[i]); err != nil {
				return err
			}
		}
	}
	var all []workload.DataSet
	wanted := make(map[workload.DataSet][]*Exhibit)
	for i := range chosen {
		if chosen[i].Data == nil {
			continue
		}
		for _, d := range chosen[i].Data(&r.Opt) {
			if wanted[d] == nil {
				all = append(all, d)
			}
			wanted[d] = append(wanted[d], &chosen[i])
		}
	}
	for _, d := range all {
		var err error
		r.set = d.Name
		kept := r.kept(wanted[d])
		if !kept {
			if r.workload, err = r.data.prepare(ctx, d); err != nil {
				return err
			}
		}
		for _, e := range wanted[d] {
			if err := r.run(ctx, e); err != nil {
				return err
			}
		}
		if kept {
			continue
		}
		if text := r.data.summary(); text != "" {
			fmt.Fprintf(r.Out, "%s\n\n", text)
		}
		if err := r.endData(); err != nil {
			return err
		}
	}
	return nil
}

// run runs one exhibit and prints its tables.
func (r *Runner) run(ctx context.Context, e *Exhibit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.now = e
	began, before := time.Now(), len(r.readings[e.Name])
	if err := r.once(e, func() error { return errors.Join(e.Run(ctx), r.unwritten) }); err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	e.print(r.Out, r.readings[e.Name][before:])
	r.Logf("%s: %.1f s", e.Name, time.Since(began).Seconds())
	return nil
}

// Logf writes a line of progress.
func (r *Runner) Logf(format string, args ...any) { fmt.Fprintf(r.log, format+"\n", args...) }

// Host returns the pure-Go contestant. If it is not measured, Host reports this as
// progress and returns false.
func (r *Runner) Host() (Contestant, bool) {
	for _, c := range r.Contestants {
		if c.Name == "host" {
			return c, true
		}
	}
	r.Logf("%s left out: it measures pure Go", r.now.Name)
	return Contestant{}, false
}
