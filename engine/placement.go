package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"heddle/engine/plan"
)

// Placement says how lists live on devices.
type Placement uint8

const (
	// PlaceAuto is replicas on the devices that hold all lists; else shards, where the
	// devices hold them together; else a cache on each.
	PlaceAuto Placement = iota
	// PlaceReplicas has all lists on each device, which then takes queries by itself.
	PlaceReplicas
	// PlaceShards has a range of the documents on each device, and every query on all: one
	// processor, which is out when one of them fails, until Engine.Reload. The parts stay
	// in host memory too, where they take about the room of the lists.
	PlaceShards
	// PlaceCache has some of the lists on each device, and brings in those that queries
	// ask for.
	PlaceCache
)

// String gives the name that command line and configuration use.
func (p Placement) String() string {
	switch p {
	case PlaceAuto:
		return "auto"
	case PlaceReplicas:
		return "replicas"
	case PlaceShards:
		return "shards"
	case PlaceCache:
		return "cache"
	}
	return fmt.Sprintf("placement(%d)", uint8(p))
}

// ParsePlacement is the inverse of String, case ignored; empty is PlaceAuto.
func ParsePlacement(s string) (Placement, error) {
	for p := PlaceAuto; p <= PlaceCache; p++ {
		if strings.EqualFold(s, p.String()) {
			return p, nil
		}
	}
	if s == "" {
		return PlaceAuto, nil
	}
	return 0, fmt.Errorf("unknown placement %q (one of auto, replicas, shards, cache)", s)
}

// placeOptions rule place.
type placeOptions struct {
	Placement Placement
	// Memory is the most that lists take on a device, in bytes: what its backend was
	// opened with. 0 is what the device has.
	Memory uint64
	// Ranked makes resident what ranking takes beside the lists, so that it must fit too
	// and no query waits for it.
	Ranked bool
}

// placed is where lists are.
type placed struct {
	Stores []placedStore // that take queries, each by itself; none where no device has lists
	Left   []LeftOut     // devices without lists
	Reason string        // a line for logs and explanations
}

// placedStore is lists on one device, or on several as shards.
type placedStore struct {
	plan.Store
	Cached  plan.CachedStore // the same store where How is PlaceCache, else nil
	How     Placement        // not PlaceAuto
	Devices []int            // in the order of the devices
	Info    plan.Info        // of shards: what the devices are together
}

// LeftOut is a device that takes no part, and why.
type LeftOut struct {
	Device string
	Err    error
}

// close closes the stores.
func (p placed) close() error {
	var errs []error
	for _, s := range p.Stores {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// place loads src on devices, all at the same time. A device that fails is left out, and
// the others are used. The devices stay open in any case. An error is that of src, or
// ctx.Err(), and nothing is loaded then.
func place(ctx context.Context, src *plan.Source, devices []plan.Backend, opt placeOptions) (placed, error) {
	if err := src.Validate(); err != nil {
		return placed{}, err
	}
	p := placer{src: src, devices: devices, opt: opt, errs: make([]error, len(devices))}
	for i := range devices {
		p.idle = append(p.idle, i)
	}
	if opt.Placement == PlaceAuto || opt.Placement == PlaceReplicas {
		p.replicas(ctx)
	}
	if opt.Placement == PlaceShards || opt.Placement == PlaceAuto && len(p.stores) == 0 {
		p.shards(ctx)
	}
	if opt.Placement == PlaceCache || opt.Placement == PlaceAuto {
		p.caches(ctx)
	}
	out := placed{Stores: p.stores, Reason: p.reason()}
	if err := ctx.Err(); err != nil {
		return placed{}, errors.Join(err, out.close())
	}
	slices.SortFunc(out.Stores, func(a, b placedStore) int { return a.Devices[0] - b.Devices[0] })
	for _, i := range p.without() {
		out.Left = append(out.Left, LeftOut{devices[i].Info().Device, p.errs[i]})
	}
	return out, nil
}
