package drivers

import (
	"context"
	"sync"
	"time"
)

// Options of Probe.
type Options struct {
	// Program and its arguments start a child, which calls Child. Without it, this process itself
	// examines the drivers.
	Program []string
	// Environ is the environment of the drivers and of the children.
	Environ []string
	// Limit is the time without progress after which a driver counts as hung. A child that computes
	// may take thirty times as long. Default: DefaultLimit.
	Limit time.Duration
	// Test selects the devices that are tested. Default: Preferred.
	Test Test
	// Device restricts devices to names that contain it, ignoring case.
	Device string
	// Tuning is a file of tuning rows.
	Tuning string
	// Cache is the folder of results. Default: none, each call starts children.
	Cache string
	// Fresh ignores the results of the cache, and replaces them.
	Fresh bool
}

// DefaultLimit is the time without progress after which a driver counts as hung.
const DefaultLimit = 20 * time.Second

// Probe examines all drivers of the machine at the same time, each in a process of its own. The
// results are in the order of the .icd files. The error is ctx.Err().
func Probe(ctx context.Context, o Options) (Report, error) {
	if o.Limit == 0 {
		o.Limit = DefaultLimit
	}
	if o.Test == "" {
		o.Test = Preferred
	}
	if len(o.Program) == 0 {
		return Report{examine(ctx, request{Test: o.Test, Device: o.Device, Tuning: o.Tuning}, func(string) {})}, ctx.Err()
	}
	s := System{Root: "/", Environ: o.Environ}
	all := s.Drivers()
	if !hasVendors {
		all = []Driver{{}} // the system knows its drivers
	}
	report := make(Report, len(all))
	kept := o.openCache()
	var children sync.WaitGroup
	for i, d := range all {
		if r, ok := kept.recall(d, o.Test); ok && !o.Fresh {
			report[i] = r
			continue
		}
		if len(d.Files) > 0 && d.Path == "" {
			report[i] = Result{Driver: d, Phase: Load, Error: missing(d)}
			continue
		}
		children.Go(func() {
			report[i] = o.start(ctx, d)
			if ctx.Err() == nil {
				kept.remember(report[i], o.Test)
			}
		})
	}
	children.Wait()
	return report, ctx.Err()
}

// missing tells about an .icd file that names no library.
func missing(d Driver) string {
	if d.Library == "" {
		return "the .icd file is empty or cannot be read"
	}
	return "it names " + Quote(d.Library) + ", which is not there"
}
