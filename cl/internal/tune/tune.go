package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"heddle/cl/internal/device"
	"heddle/cl/internal/primitive"
	"heddle/engine/plan"
)

// Options configures a measurement.
type Options struct {
	Short       bool          // fewer values, smaller workloads
	MemoryLimit uint64        // as in Options
	Host        plan.Backend  // pure Go, to compare a CPU device with; may be nil
	Tried       func(Step)    // called after each step, may be nil
	Limit       time.Duration // until Tune returns; 0: usualLimit
	Every       bool          // try every setting of a part, without Limit, to judge the search
	// Open opens the device with a row and all operations.
	Open func(context.Context, *device.Device, device.Options) (Backend, error)
}

// Backend is an open device with all operations.
type Backend interface {
	plan.Backend
	Scan(ctx context.Context, out, in []uint32, runs int) (primitive.Timing, error)
	Compact(ctx context.Context, out, in []uint32, keep primitive.Keep, runs int) ([]uint32, primitive.Timing, error)
}

// Step is the measurement of one setting.
type Step struct {
	Part    string  // "probe", "decode", ...
	Setting string  // the knobs of the part, "wg=64 tile=256"
	Value   float64 // greater is better
	Unit    string
	Best    bool  // the best of its part so far
	Err     error // the setting did not build, run or answer right
}

// usualLimit leaves a command of a minute time to find the device.
const usualLimit = 55 * time.Second

// Shares of the time until which the parts behind those of parts measure.
const (
	untilThreshold = 0.82
	untilBatch     = 0.9
	untilCompared  = 0.97
)

// Tune measures device d and returns its row: a search along one knob after the other, part
// by part, from the row in force. It compares every answer with pure Go. Each part has a share of the time, and
// ends with the best setting so far. At last it measures both rows in turn: a part that the row in force does
// faster keeps the settings of that row, and so does a part for whose comparison no time is left. Errors come from
// the context and from the row in force, which is the first setting of each part.
func Tune(ctx context.Context, d *device.Device, opt Options) (device.Tuning, error) {
	began := time.Now()
	w, err := newWork(d, opt)
	if err != nil {
		return device.Tuning{}, err
	}
	measuring, stop := context.WithDeadline(ctx, began.Add(cmp.Or(opt.Limit, usualLimit)))
	defer stop()
	if opt.Every {
		measuring = ctx
	}
	t := &tuner{ctx: ctx, measuring: measuring, d: d, opt: opt, row: d.Tuning(), work: w, began: began}
	t.row.Name = rowName(d.Info().Device)
	t.row.Match = []string{strings.ToLower(d.Info().Device), d.Info().Type}
	all := parts(d, opt.Short)
	for _, p := range all {
		if err := t.part(p); err != nil && !errors.Is(err, errLate) {
			return device.Tuning{}, fmt.Errorf("measuring %s: %w", p.name, err)
		}
	}
	if err := t.threshold(); err != nil && !errors.Is(err, errLate) {
		return device.Tuning{}, fmt.Errorf("measuring merges against probes: %w", err)
	}
	if err := t.batch(); err != nil {
		return device.Tuning{}, fmt.Errorf("measuring batches: %w", err)
	}
	if err := t.compare(all); err != nil {
		return device.Tuning{}, fmt.Errorf("comparing with row %q: %w", d.Tuning().Name, err)
	}
	if err := t.beatsHost(); err != nil && measuring.Err() == nil {
		return device.Tuning{}, fmt.Errorf("measuring pure Go: %w", err)
	}
	t.row.Why = "heddle tune on " + d.String() + ", driver " + d.Info().Driver + ": " + strings.Join(t.figures, ", ")
	return t.row, nil
}

// rowName makes a name of the letters and digits of a device name.
func rowName(dev string) string {
	words := strings.FieldsFunc(strings.ToLower(dev), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return cmp.Or(strings.Join(words, "-"), "device")
}

type tuner struct {
	ctx       context.Context
	measuring context.Context // ends at the limit
	d         *device.Device
	opt       Options
	row       device.Tuning
	work      *work
	figures   []string
	rate      float64 // rate of the best batches, in M queries/s
	began     time.Time
	took      time.Duration // the longest measurement since the last part began
}

// errLate is the error of a measurement that does not end within the limit.
var errLate = errors.New("the time of all measurements is over")

// over reports whether a share of the time is too short for so many more measurements.
func (t *tuner) over(until float64, more int) bool {
	limit := cmp.Or(t.opt.Limit, usualLimit)
	return !t.opt.Every && time.Since(t.began)+time.Duration(more)*t.took > time.Duration(until*float64(limit))
}

// gain is the least improvement of a better setting. Repeated runs differ by less.
const gain = 1.02

// part searches for the best setting and puts it into the row.
func (t *tuner) part(p part) error {
	known := map[string]float64{}
	t.took = 0
	try := func(row device.Tuning) (float64, error) {
		setting := p.setting(&row)
		if v, ok := known[setting]; ok {
			return v, nil
		}
		v, err := t.measure(row, p.slots, p.measure)
		if t.measuring.Err() != nil {
			return 0, cmp.Or(err, errLate)
		}
		best := err == nil
		for _, other := range known {
			best = best && v > other
		}
		known[setting] = v // 0 after an error
		t.tried(Step{Part: p.name, Setting: setting, Value: v, Unit: p.unit, Best: best, Err: err})
		return v, err
	}
	best, err := try(t.row)
	if err != nil {
		return err
	}
	if t.opt.Every {
		row := t.row
		for _, other := range p.every(t.d, row) {
			got, _ := try(other)
			if t.ctx.Err() != nil {
				return t.ctx.Err()
			}
			if got > best {
				best, t.row = got, other
			}
		}
	}
search:
	for range p.passes {
		before := best
		for _, k := range p.knobs {
			for _, v := range k.values {
				row, ok := t.row, false
				k.set(&row, v)
				if row, ok = t.d.Adapt(row); !ok || k.get(&row) != v || k.idle != nil && k.idle(&row) {
					continue
				}
				if t.over(p.until, 2) {
					break search
				}
				got, err := try(row)
				if t.measuring.Err() != nil {
					return cmp.Or(err, errLate)
				}
				if got <= best*gain {
					continue
				}
				// A setting must win twice, because other work on the machine makes figures noisy.
				again, err := t.measure(row, p.slots, p.measure)
				if err != nil {
					return err
				}
				held, err := t.measure(t.row, p.slots, p.measure)
				if err != nil {
					return err
				}
				if best = max(best, held); min(got, again) > best*gain {
					best, t.row = max(got, again), row
				}
			}
		}
		if best == before {
			break
		}
	}
	t.figures = append(t.figures, strings.TrimSuffix(fmt.Sprintf("%s %.3g %s (%s)", p.name, best, p.unit, p.setting(&t.row)), " ()"))
	return nil
}

// measure opens the device with a row, of at most the given number of slots unless 0. It leaves a measurement that does not end
// within the limit to itself, and no other one follows.
func (t *tuner) measure(row device.Tuning, slots int, f func(*work, context.Context, Backend) (float64, error)) (float64, error) {
	if slots > 0 {
		row.Slots = min(row.Slots, slots)
	}
	v, err := 0.0, t.measuring.Err()
	if err == nil {
		began := time.Now()
		v, err = device.Detached(t.measuring, nil, func() (float64, error) {
			b, err := t.opt.Open(t.measuring, t.d, device.Options{Tuning: &row, SkipSelfTest: true, Profiling: true, MemoryLimit: t.opt.MemoryLimit})
			if err != nil {
				return 0, err
			}
			t.work.lookBack, t.work.callers = row.LookBack, callers(row)
			v, err := f(t.work, t.measuring, b)
			return v, errors.Join(err, b.Close())
		}, func(float64) {})
		t.took = max(t.took, time.Since(began))
	}
	switch {
	case err == nil:
		return v, nil
	case t.ctx.Err() != nil:
		return 0, t.ctx.Err()
	case t.measuring.Err() != nil:
		return 0, errLate
	}
	return 0, err
}

func (t *tuner) tried(s Step) {
	if t.opt.Tried != nil {
		t.opt.Tried(s)
	}
}

// threshold finds the least length of lists, a power of two, at which merges are faster than
// probes. 0 means none.
func (t *tuner) threshold() error {
	row := t.row
	row.MergeLeast = 0 // auto probes
	t.took = 0
	for i, n := range t.work.mergeSizes() {
		if t.over(untilThreshold, 2) {
			break
		}
		rate := func(a plan.Algorithm) (float64, error) {
			v, err := t.measure(row, 1, func(w *work, ctx context.Context, b Backend) (float64, error) { return w.pair(ctx, b, a, n) })
			if err == nil {
				t.tried(Step{Part: "merge_least", Setting: fmt.Sprintf("%s of %d elements", a, n), Value: v, Unit: "G inputs/s"})
			}
			return v, err
		}
		merged, err := rate(plan.MergePath)
		if err != nil {
			return err
		}
		probed, err := rate(plan.Auto)
		if err != nil {
			return err
		}
		if i == 0 {
			t.row.MergeLeast = 0
		}
		if merged <= probed {
			break
		}
		t.row.MergeLeast = uint64(n)
	}
	return nil
}

// batch finds the size of a batch at which throughput stops growing.
func (t *tuner) batch() error {
	type point struct {
		candidates uint64
		rate       float64
	}
	var points []point
	row, best := t.row, 0.0
	t.took = 0
	for _, n := range t.work.batchSizes() {
		if t.over(untilBatch, 1) {
			break
		}
		v, err := t.measure(t.row, 0, func(w *work, ctx context.Context, b Backend) (float64, error) {
			return w.batches(ctx, b, n, callers(row))
		})
		if errors.Is(err, errLate) {
			break
		}
		if err != nil {
			return err
		}
		points, best = append(points, point{n, v}), max(best, v)
		t.tried(Step{Part: "batch", Setting: fmt.Sprintf("batch=%d", n), Value: v, Unit: "M queries/s", Best: v == best})
	}
	for _, p := range points {
		if p.rate >= 0.95*best {
			t.row.Batch = p.candidates
			break
		}
	}
	if t.rate = best; best > 0 {
		t.figures = append(t.figures, fmt.Sprintf("%.3g M queries/s end to end", best))
	}
	return nil
}

// inForce begins the setting in the step that compares the row in force with the row found.
const inForce = "in force: "

// compare measures the row and the row in force in turn, part by part, and takes back the settings of the parts that
// are not faster.
func (t *tuner) compare(all []part) error {
	force := t.d.Tuning()
parts:
	for _, p := range all {
		found := p.setting(&t.row)
		if found == p.setting(&force) {
			continue
		}
		old := t.row
		for _, k := range p.knobs {
			k.set(&old, k.get(&force))
		}
		best, held := 0.0, 0.0
		for turn := 0; turn < 3 && (turn == 0 || !t.over(untilCompared, 2)); turn++ {
			for _, mine := range [2]bool{turn%2 == 0, turn%2 != 0} {
				row, to := &old, &held
				if mine {
					row, to = &t.row, &best
				}
				v, err := t.measure(*row, p.slots, p.measure)
				if errors.Is(err, errLate) {
					t.row = old
					continue parts
				}
				if err != nil {
					return err
				}
				*to = max(*to, v)
			}
		}
		t.tried(Step{Part: p.name, Setting: inForce + p.setting(&old), Value: held, Unit: p.unit})
		t.tried(Step{Part: p.name, Setting: "found: " + found, Value: best, Unit: p.unit, Best: best > held})
		if best <= held {
			t.row = old
		}
		t.figures = append(t.figures, fmt.Sprintf("%s %.2f times %q", p.name, max(best/held, 1), force.Name))
	}
	return nil
}

// beatsHost runs the best batches of the device on pure Go as well.
func (t *tuner) beatsHost() error {
	if t.opt.Host == nil || t.d.Info().Type != "cpu" || t.rate == 0 || t.measuring.Err() != nil {
		return nil
	}
	rate, err := t.work.batches(t.measuring, t.opt.Host, t.row.Batch, callers(t.row))
	if err != nil {
		return err
	}
	t.tried(Step{Part: "beats_host", Setting: "pure Go", Value: rate, Unit: "M queries/s"})
	t.row.BeatsHost = t.rate > rate
	t.figures = append(t.figures, fmt.Sprintf("pure Go %.3g", rate))
	return nil
}
