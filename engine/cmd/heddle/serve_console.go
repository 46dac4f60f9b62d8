package main

import (
	"context"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"google.golang.org/protobuf/proto"

	"heddle/config"
	"heddle/engine/api"
	"heddle/engine/cmd/heddle/internal/daemon"
	"heddle/engine/cmd/heddle/internal/doctor"
	"heddle/engine/internal/drivers"
	"heddle/hostfallback"
)

// daemon returns the options of a daemon. Read is the result of daemon.Look from before the
// configuration was read.
func (s *settings) daemon(a *App, c *config.Config, log zerolog.Logger, read map[string]os.FileInfo) daemon.Options {
	return daemon.Options{
		Config: c, Sources: s.sources(a), Read: read, Stdout: a.Stdout, Log: log, Traces: traces,
		Open: a.newEngine, Close: closeEngine, Ready: func() error { return a.notify("READY=1") },
		Machine: (&survey{app: *a, c: c}).machine,
	}
}

// survey examines the machine. An examination reads files of the system, so its result serves for a
// while. Child processes load the drivers, once: this process may be about to leave some of them out.
type survey struct {
	app App // with the environment of the start
	c   *config.Config

	mu      sync.Mutex
	at      time.Time
	last    *api.Machine
	drivers drivers.Report // nil: not examined yet
}

// stale is the age at which the machine is examined again.
const stale = 15 * time.Second

func (s *survey) machine(ctx context.Context) (*api.Machine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil || time.Since(s.at) > stale {
		m, err := s.examine(ctx)
		if err != nil {
			return nil, err
		}
		s.last, s.at = m, time.Now()
	}
	return proto.CloneOf(s.last), nil // the server adds which places are open
}

func (s *survey) examine(ctx context.Context) (*api.Machine, error) {
	m := &api.Machine{}
	if s.c.Devices.Backend != "host" {
		if s.drivers == nil {
			report, err := s.app.report(ctx, &s.c.Devices, drivers.Preferred, false)
			if err != nil {
				return nil, err
			}
			s.drivers = append(drivers.Report{}, report...)
		}
		places, missing := placesOf(s.drivers)
		m.OpenclError = errorText(missing)
		for _, p := range places {
			m.Places = append(m.Places, p.message())
		}
	}
	host := newPlace(hostfallback.New(hostfallback.Options{Threads: s.c.Devices.Threads}).Info())
	host.Preferred, host.Reason = true, "reserve of the device"
	if len(m.Places) == 0 {
		host.Reason = "no preferred device is usable"
	}
	m.Places = append(m.Places, host.message())
	if runtime.GOOS != "linux" {
		return m, nil
	}
	here, err := doctor.Here(s.app.Environ)
	if err != nil {
		return nil, err
	}
	here.Report = s.drivers
	for _, p := range here.Examine() {
		m.Findings = append(m.Findings, &api.Finding{State: string(p.State), Name: p.Name, Found: p.Found, Repair: p.Repair})
	}
	return m, nil
}

// message returns the place as the server sends it.
func (p *place) message() *api.Place {
	return &api.Place{
		Kind: p.Kind, Device: p.Device, Platform: p.Platform, Vendor: p.Vendor, Driver: p.Driver, Version: p.Version, Type: p.Type,
		ComputeUnits: uint32(p.ComputeUnits), Memory: p.Memory, MaxAlloc: p.MaxAlloc, LocalMemory: p.LocalMemory,
		Tuning: p.Tuning, Preferred: p.Preferred, Reason: p.Reason,
	}
}
