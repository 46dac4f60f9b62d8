// Package placement distributes lists over devices: replicas, shards by documents, or list caches.
package placement

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"heddle/engine/plan"
)

// How is the distribution of lists over devices.
type How uint8

const (
	// Auto: replicas on the devices that hold all lists; else shards, if the devices hold
	// all lists together; else a list cache on each device.
	Auto How = iota
	// Replicas: all lists on each device. Each device answers queries alone.
	Replicas
	// Shards: a range of the documents on each device. All devices run each query together;
	// if one of them fails, all are removed until the next Reload. Copies of the parts stay
	// in host memory, about as large as the lists.
	Shards
	// Cache: some of the lists on each device, which loads further lists on demand.
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

// Parse is the inverse of String. It ignores case; the empty name is Auto.
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

// Options of Place.
type Options struct {
	How How
	// Memory limits a list cache on each device, in bytes. 0: the memory of the device.
	Memory uint64
	// Ranked loads the data for ranking with the lists, so that it is part of the check of
	// memory and no query waits for it.
	Ranked bool
}

// Placed describes the stores that Place has made.
type Placed struct {
	Stores []Store    // each answers queries alone; empty if no device has lists
	Left   []Excluded // devices without lists
	Reason string     // a line for logs and explanations
}

// Store holds lists on one device, or on several devices as shards.
type Store struct {
	plan.Store
	Cached  plan.CachedStore // the same store if How is Cache, else nil
	How     How              // not Auto
	Devices []int            // numbers of the devices, ascending
	Info    plan.Info        // description of the backend; for shards, of all devices together
}

// Excluded is a device without lists, and the reason.
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

// Place loads src on devices, all at the same time. It leaves out devices that fail. It
// returns an error for an invalid src and ctx.Err(); no store is open then.
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
