//go:build !core

package machine

import (
	"context"
	"runtime"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle/config"
	"heddle/engine/api"
	"heddle/engine/cmd/heddle/internal/doctor"
	"heddle/engine/internal/drivers"
)

// Survey examines the machine. An examination reads files of the system, so its result serves for a
// while. Child processes load the drivers, once: this process may be about to leave some of them out.
type Survey struct {
	Machine // with the environment of the start
	Devices *config.Devices

	mu     sync.Mutex
	at     time.Time
	last   *api.Machine
	report drivers.Report // nil: not examined yet
}

// stale is the age at which the machine is examined again.
const stale = 15 * time.Second

// Describe returns the processors and the findings. The caller may change them.
func (s *Survey) Describe(ctx context.Context) (*api.Machine, error) {
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

func (s *Survey) examine(ctx context.Context) (*api.Machine, error) {
	m := &api.Machine{}
	if s.Devices.Backend != "host" {
		if s.report == nil {
			found, err := s.Drivers(ctx, s.Devices, drivers.Preferred, false)
			if err != nil {
				return nil, err
			}
			s.report = append(drivers.Report{}, found...)
		}
		places, missing := listed(s.report)
		m.OpenclError = ErrorText(missing)
		for _, p := range places {
			m.Places = append(m.Places, p.message())
		}
	}
	host := host(s.Devices.Threads)
	if len(m.Places) == 0 {
		host.Reason = noDevice
	}
	m.Places = append(m.Places, host.message())
	if runtime.GOOS != "linux" {
		return m, nil
	}
	here, err := doctor.Here(s.Environ)
	if err != nil {
		return nil, err
	}
	here.Report = s.report
	for _, p := range here.Examine() {
		m.Findings = append(m.Findings, &api.Finding{State: string(p.State), Name: p.Name, Found: p.Found, Repair: p.Repair})
	}
	return m, nil
}

// message returns the place as the server sends it.
func (p *Place) message() *api.Place {
	return &api.Place{
		Kind: p.Kind, Device: p.Device, Platform: p.Platform, Vendor: p.Vendor, Driver: p.Driver, Version: p.Version, Type: p.Type,
		ComputeUnits: uint32(p.ComputeUnits), Memory: p.Memory, MaxAlloc: p.MaxAlloc, LocalMemory: p.LocalMemory,
		Tuning: p.Tuning, Preferred: p.Preferred, Reason: p.Reason,
	}
}
