package placement

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"heddle/engine/plan"
)

// How says how lists live on devices.
type How uint8

const (
	// Auto is replicas on the devices that hold all lists; else shards, where the
	// devices hold them together; else a cache on each.
	Auto How = iota
	// Replicas has all lists on each device, which then takes queries by itself.
	Replicas
	// Shards has a range of the documents on each device, and every query on all: one
	// processor, which is out when one of them fails, until Engine.Reload. The parts stay
	// in host memory too, where they take about the room of the lists.
	Shards
	// Cache has some of the lists on each device, and brings in those that queries
	// ask for.
	Cache
)

// String gives the name that command line and configuration use.
func (p How) String() string {
	switch p {
	case Auto:
		return "auto"
	case Replicas:
		return "replicas"
	case Shards:
		return "shards"
	case Cache:
		return "cache"
	}
	return fmt.Sprintf("placement(%d)", uint8(p))
}

// Parse is the inverse of String, case ignored; empty is Auto.
func Parse(s string) (How, error) {
	for p := Auto; p <= Cache; p++ {
		if strings.EqualFold(s, p.String()) {
			return p, nil
		}
	}
	if s == "" {
		return Auto, nil
	}
	return 0, fmt.Errorf("unknown placement %q (one of auto, replicas, shards, cache)", s)
}

// Options rule place.
type Options struct {
	How How
	// Memory is the most that lists take on a device, in bytes: what its backend was
	// opened with. 0 is what the device has.
	Memory uint64
	// Ranked makes resident what ranking takes beside the lists, so that it must fit too
	// and no query waits for it.
	Ranked bool
}

// Placed is where lists are.
type Placed struct {
	Stores []Store    // that take queries, each by itself; none where no device has lists
	Left   []Excluded // devices without lists
	Reason string     // a line for logs and explanations
}

// Store is lists on one device, or on several as shards.
type Store struct {
	plan.Store
	Cached  plan.CachedStore // the same store where How is Cache, else nil
	How     How              // not Auto
	Devices []int            // in the order of the devices
	Info    plan.Info        // of shards: what the devices are together
}

// Excluded is a device that takes no part, and why.
type Excluded struct {
	Device string
	Err    error
}

// close closes the stores.
func (p Placed) close() error {
	var errs []error
	for _, s := range p.Stores {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// place loads src on devices, all at the same time. A device that fails is left out, and
// the others are used. The devices stay open in any case. An error is that of src, or
// ctx.Err(), and nothing is loaded then.
func Place(ctx context.Context, src *plan.Source, devices []plan.Backend, opt Options) (Placed, error) {
	if err := src.Validate(); err != nil {
		return Placed{}, err
	}
	p := placer{src: src, devices: devices, opt: opt, errs: make([]error, len(devices))}
	for i := range devices {
		p.idle = append(p.idle, i)
	}
	if opt.How == Auto || opt.How == Replicas {
		p.replicas(ctx)
	}
	if opt.How == Shards || opt.How == Auto && len(p.stores) == 0 {
		p.shards(ctx)
	}
	if opt.How == Cache || opt.How == Auto {
		p.caches(ctx)
	}
	out := Placed{Stores: p.stores, Reason: p.reason()}
	if err := ctx.Err(); err != nil {
		return Placed{}, errors.Join(err, out.close())
	}
	slices.SortFunc(out.Stores, func(a, b Store) int { return a.Devices[0] - b.Devices[0] })
	for _, i := range p.without() {
		out.Left = append(out.Left, Excluded{devices[i].Info().Device, p.errs[i]})
	}
	return out, nil
}
