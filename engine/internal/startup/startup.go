// Package startup decides whether a short-lived command should open a device. A device
// answers queries faster than the host, but its driver needs a large fraction of a second
// to start, and the index must be transferred.
package startup

import (
	"fmt"
	"time"

	"heddle/engine/internal/cost"
)

// Default is the start-up time of a device without a measurement. It was measured on an
// NVIDIA H200 whose driver had the kernels in its cache.
const Default = 800 * time.Millisecond

// busTime is the transfer time of one byte to a device: 10 GB/s, with pageable memory.
const busTime = 0.1 // ns

// Work is the work of a command.
type Work struct {
	// Queries is the number of queries. 0 means unknown: they arrive in a stream.
	Queries int
	// Host and Device are the times of all queries on an open processor.
	Host, Device time.Duration
	// Bytes is the size of the data to be transferred to a device.
	Bytes uint64
}

// Choice is the choice between the host and a device, with its reasons.
type Choice struct {
	Host     bool          // the host should finish first
	Work     Work          // work of the command
	Device   string        // name of the device; empty if it has never been opened
	Open     time.Duration // start-up time of the device
	Measured bool          // Open was measured on this machine
	Transfer time.Duration // time of transferring the data to the device
}

// Choose chooses the processor that should finish first. An unknown number of queries is
// work for a device, because the start-up counts once.
func Choose(w Work, r Record) Choice {
	c := Choice{Work: w, Device: r.Device, Open: r.Estimate(), Measured: r.Opens > 0,
		Transfer: time.Duration(float64(w.Bytes) * busTime)}
	c.Host = w.Queries > 0 && w.Host <= c.OnDevice()
	return c
}

// OnDevice returns the time of the command on the device, start-up included.
func (c *Choice) OnDevice() time.Duration { return c.Open + c.Transfer + c.Work.Device }

// String gives the reason with both estimates.
func (c Choice) String() string {
	device, origin := c.Device, "measured before"
	if device == "" {
		device = "an OpenCL device"
	}
	if !c.Measured {
		origin = "not measured yet"
	}
	if c.Work.Queries == 0 {
		return "queries arrive in a stream of unknown length, for which a device pays off if there is one"
	}
	than := "the host should finish first"
	if !c.Host {
		than = "a device should finish first"
	}
	queries := "queries"
	if c.Work.Queries == 1 {
		queries = "query"
	}
	return fmt.Sprintf("%s: %d %s should take %s in pure Go, and %s on %s (start-up %s, %s; transfer %s; queries %s)",
		than, c.Work.Queries, queries, round(c.Work.Host), round(c.OnDevice()), device, round(c.Open), origin, round(c.Transfer), round(c.Work.Device))
}

// Threshold describes the choice without work: the time below which commands run on the
// host.
func Threshold(r Record) string {
	e := Choose(Work{Queries: 1}, r)
	origin := "measured before"
	if !e.Measured {
		origin = "not measured yet"
	}
	return fmt.Sprintf("a search or bitmap query that pure Go should finish within %s, the start-up time (%s), runs on the host", round(e.Open), origin)
}

// round keeps about three digits.
func round(d time.Duration) time.Duration {
	for unit := time.Duration(1); ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}

// Queries returns the work of all queries of one kind on lists of the given number of bytes. Parameter
// scale is the total number of queries divided by the number of features, which may be a
// sample. The device is the name of its cost models in the book.
func Queries(book *cost.Book, kind cost.Kind, device string, sample []cost.Features, scale float64, bytes uint64) Work {
	w := Work{Queries: max(int(float64(len(sample))*scale+0.5), 1), Bytes: bytes}
	w.Host = total(book.Model(cost.Host, kind), sample, scale)
	w.Device = total(book.Model(device, kind), sample, scale)
	return w
}

// Selections returns the work of all predicates of a command on a table of the given number of bytes.
func Selections(sample []cost.Features, scale float64, bytes uint64) Work {
	return Work{Queries: max(int(float64(len(sample))*scale+0.5), 1), Bytes: bytes,
		Host: total(cost.NewSelections(true), sample, scale), Device: total(cost.NewSelections(false), sample, scale)}
}

// total estimates queries: a single one alone, several as one batch.
func total(m *cost.Model, sample []cost.Features, scale float64) time.Duration {
	if len(sample) == 1 && scale <= 1 {
		return m.Alone(&sample[0])
	}
	sum := 0.0
	for i := range sample {
		sum += float64(m.Added(&sample[i]))
	}
	return m.Start() + time.Duration(sum*scale)
}
