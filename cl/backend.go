package cl

import (
	"context"
	"io"
	"time"

	"github.com/rs/zerolog"

	"heddle/cl/internal/bitmap"
	"heddle/cl/internal/device"
	"heddle/cl/internal/filter"
	"heddle/cl/internal/lists"
	"heddle/cl/internal/match"
	"heddle/cl/internal/match/expression"
	"heddle/cl/internal/phrase"
	"heddle/cl/internal/primitive"
	"heddle/cl/internal/rank"
	"heddle/cl/internal/tune"
	"heddle/engine/plan"
)

// Options of a backend. The zero value is valid.
type Options struct {
	// MemoryLimit is the number of bytes for all stores, tables, caches and scratch memory
	// of the backend together. The default 0 means nine tenths of the memory that the
	// device reports, or half where its reports are known to be wrong.
	MemoryLimit uint64
	// Profiling fills the device times of plan.Stats. Default: off.
	Profiling bool
	// CountLoads fills plan.Stats.BytesMoved and Blocks, with slower kernels. Default: off.
	CountLoads bool
	// Tuning replaces the tuning row of the device. Default: the row of the device.
	Tuning *Tuning
	// Passed tells that another process has passed the self-test on this device, with the same driver, tuning row
	// and version of this package: it is left out. Kernels that are tested on first use still are. Default: false.
	Passed bool
	// SkipSelfTest opens the device without the comparison with plain Go, for tests of the
	// kernels themselves.
	SkipSelfTest bool
	// Step is called before the steps of opening: "context", "build", "self-test". May be nil.
	Step func(name string)
	// Log receives the result of the self-test. May be nil.
	Log *zerolog.Logger

	fault func(step string) error // may fail a driver step, in tests
}

// Backend is one open OpenCL device. It is safe for concurrent use.
type Backend struct{ rt *device.Runtime }

var (
	_ plan.Backend        = (*Backend)(nil)
	_ plan.CachingBackend = (*Backend)(nil)
)

// everything lists the operations of the package. Opening a device tests them in order.
var everything = device.Operations{lists.Operation, match.Operation, expression.Operation, rank.Operation, phrase.Operation, filter.Operation, bitmap.Operation, primitive.Operation}

// Devices lists the devices whose name, vendor or platform contains filter, GPUs first. An
// empty filter takes all, case is ignored. Tuning rows of the caller precede the built-in
// ones. Without an OpenCL library or driver it returns no devices and the reason.
func Devices(filter string, rows ...Tuning) ([]*Device, error) {
	found, err := device.Find(filter, everything, nil, rows...)
	return found.Devices, err
}

// ErrNoPlatform is the cause of an error of Devices and Search where no driver offers a platform.
var ErrNoPlatform = device.ErrNoPlatform

// Search is Devices that also returns the names of platforms without a device, and calls step before
// each step: "platforms", and "devices" of each platform.
func Search(step func(name string), filter string, rows ...Tuning) (devices []*Device, empty []string, err error) {
	found, err := device.Find(filter, everything, step, rows...)
	return found.Devices, found.Empty, err
}

// Open checks the limits of a device, builds the kernels and runs the self-test, unless opt.Passed. Errors
// are *plan.DeviceError of kind ErrNoDevice (limits), ErrBuild, ErrSelfTest,
// ErrOutOfMemory or ErrDeviceLost.
func Open(ctx context.Context, d *Device, opt Options) (*Backend, error) {
	rt, err := device.Open(ctx, d, device.Options{MemoryLimit: opt.MemoryLimit, Profiling: opt.Profiling, CountLoads: opt.CountLoads,
		Tuning: opt.Tuning, Passed: opt.Passed, SkipSelfTest: opt.SkipSelfTest, Step: opt.Step, Log: opt.Log, Fault: opt.fault})
	if err != nil {
		return nil, err
	}
	return &Backend{rt}, nil
}

// Info describes the device.
func (b *Backend) Info() plan.Info { return b.rt.Info }

// CopyPeak measures copies inside device memory and returns the best rate, in bytes read
// and written per second.
func (b *Backend) CopyPeak(ctx context.Context) (float64, error) { return b.rt.CopyPeak(ctx) }

// Load copies the lists of src to the device and builds the auxiliary tables of
// plan.Auto. src must stay valid until the store is closed. A codec without kernels gives
// plan.ErrUnsupported.
func (b *Backend) Load(ctx context.Context, src *plan.Source) (plan.Store, error) {
	return load(ctx, b.rt, src)
}

// LoadCached makes a store whose lists come and go, in the given number of bytes of device
// memory. 0, or more than is free, means all free memory but a reserve for self-tests.
// Scratch memory takes at most a quarter of it while rounds stay long enough, boolean
// expressions three sixteenths if possible, ranking a quarter if src has frequencies. Lists
// take the rest, at least an eighth. If the driver refuses the memory, half the bytes are tried, and
// so on.
func (b *Backend) LoadCached(ctx context.Context, src *plan.Source, bytes uint64) (plan.CachedStore, error) {
	return loadCached(ctx, b.rt, src, bytes)
}

// LoadTable checks the bit vectors of t and copies them to the device. t must stay valid
// until the store is closed.
func (b *Backend) LoadTable(ctx context.Context, t *plan.Table) (plan.TableStore, error) {
	s, err := bitmap.Load(ctx, b.rt, t)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Scan writes the exclusive prefix sums of in, modulo 2^32, to out, which has the same
// length. It copies in to the device, runs the kernels the given number of times, at least
// once, and copies the last result back. It is safe for concurrent use. Errors come from
// the context or are *plan.DeviceError.
func (b *Backend) Scan(ctx context.Context, out, in []uint32, runs int) (Timing, error) {
	return primitive.Scan(ctx, b.rt, out, in, runs)
}

// Compact appends the elements of in that keep selects to out, in their order. Otherwise
// it is like Scan.
func (b *Backend) Compact(ctx context.Context, out, in []uint32, keep Keep, runs int) ([]uint32, Timing, error) {
	return primitive.Compact(ctx, b.rt, out, in, keep, runs)
}

// Decode copies the lists of src, which share a codec with a decoder, to the device and decodes
// all of them in one launch, the given number of times, at least once. It returns the docIDs of
// each list, and the duration of each launch if the backend profiles. With gaps, which only gap
// codecs have, the kernels leave out the prefix sum: in place of a docID they write its
// distance from the docID before it, less one. It is safe for concurrent use. Errors come from
// the context or are *plan.DeviceError.
func (b *Backend) Decode(ctx context.Context, src *plan.Source, gaps bool, runs int) ([][]uint32, []time.Duration, error) {
	return lists.Decode(ctx, b.rt, src, gaps, runs)
}

// Close releases the device. Its stores must be closed before. A second call returns
// plan.ErrClosed.
func (b *Backend) Close() error { return b.rt.Close() }

// ReadTunings reads the rows of a TOML file, as `heddle tune` writes it, for Devices. Syntax
// errors, unknown keys and rows that the kernels cannot run with are a *config.Error with
// file and line.
func ReadTunings(file string) ([]Tuning, error) { return device.ReadRows(file, everything) }

// WriteTuning writes a row in the format of ReadTunings.
func WriteTuning(w io.Writer, row Tuning) error { return device.WriteRow(w, row) }

// TuneOptions configures Tune.
type TuneOptions struct {
	Short       bool           // fewer values, smaller workloads
	MemoryLimit uint64         // as in Options
	Host        plan.Backend   // pure Go, to compare a CPU device with; may be nil
	Tried       func(TuneStep) // called after each step, may be nil
	Limit       time.Duration  // until Tune returns. Default: 55 s

	every bool // try every setting, in a test
}

// Tune measures device d and returns its tuning row: a search along one knob after the other,
// part by part, from the row in force. It compares every answer with pure Go. At last it measures both rows
// in turn; a part of the row in force that is faster stays. Errors come
// from the context and from the row in force, which is the first setting of each part.
func Tune(ctx context.Context, d *Device, opt TuneOptions) (Tuning, error) {
	return tune.Tune(ctx, d, tune.Options{Short: opt.Short, MemoryLimit: opt.MemoryLimit, Host: opt.Host, Tried: opt.Tried, Limit: opt.Limit, Every: opt.every,
		Open: func(ctx context.Context, d *Device, opt device.Options) (tune.Backend, error) {
			rt, err := device.Open(ctx, d, opt)
			if err != nil {
				return nil, err
			}
			return &Backend{rt}, nil
		}})
}
