package backend_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"

	"heddle/config"
	"heddle/engine/internal/backend"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
	"heddle/hostfallback"
)

// counted is a backend in pure Go that counts whether it is open.
type counted struct {
	plan.Backend
	info plan.Info
	open *atomic.Int64
}

func (c *counted) Info() plan.Info { return c.info }

func (c *counted) Close() error {
	c.open.Add(-1)
	return c.Backend.Close()
}

// candidate returns a candidate of a kind, "host" or "opencl". Its Open returns err, or a
// backend that adds one to open until it is closed.
func candidate(kind, name string, err error, open *atomic.Int64) backend.Candidate {
	return backend.Candidate{Name: name, Host: kind == "host", Reserve: kind == "host", Open: func(context.Context) (plan.Backend, error) {
		if err != nil {
			return nil, err
		}
		open.Add(1)
		return &counted{hostfallback.New(hostfallback.Options{Threads: 1}), plan.Info{Kind: kind, Device: name}, open}, nil
	}}
}

func lost(name string) error {
	return &plan.DeviceError{Kind: plan.ErrSelfTest, Device: name, Op: "opening"}
}

func names(open []backend.Opened) (all []string) {
	for _, o := range open {
		name := o.Info.Device
		if o.Reserve {
			name += " in reserve"
		}
		all = append(all, name)
	}
	return all
}

// TestOpen opens lists of candidates, the first device that works or all of them.
func TestOpen(t *testing.T) {
	for _, c := range []struct {
		name       string
		fail       string // names of candidates that fail
		candidates string // h… is a host
		first, all string // that open; empty: none
	}{
		{"host alone", "", "h", "h", "h in reserve"},
		{"device alone", "", "a", "a", "a"},
		{"host and devices", "", "h a b", "h in reserve, a", "h in reserve, a, b"},
		{"first device fails", "a", "h a b", "h in reserve, b", "h in reserve, b"},
		{"all devices fail", "a b", "h a b", "h", "h in reserve"},
		{"host fails", "h", "h a b", "a", "a, b"},
		{"all fail", "h a b", "h a b", "", ""},
	} {
		for _, first := range []bool{true, false} {
			var open atomic.Int64
			var list []backend.Candidate
			for _, name := range strings.Fields(c.candidates) {
				kind, err := "opencl", error(nil)
				if name[0] == 'h' {
					kind = "host"
				}
				if slices.Contains(strings.Fields(c.fail), name) {
					err = lost(name)
				}
				list = append(list, candidate(kind, name, err, &open))
			}
			f, want := backend.OpenAll, c.all
			if first {
				f, want = backend.OpenFirst, c.first
			}
			var log strings.Builder
			opened, err := f(t.Context(), list, zerolog.New(&log))
			if got := strings.Join(names(opened), ", "); got != want || open.Load() != int64(len(opened)) {
				t.Errorf("%s, first %t: opened %q, want %q; %d are open", c.name, first, got, want, open.Load())
			}
			if (err != nil) != (want == "") || err != nil && !errors.Is(err, plan.ErrSelfTest) {
				t.Errorf("%s, first %t: %v", c.name, first, err)
			}
			for _, name := range strings.Fields(c.fail) {
				if !strings.Contains(log.String(), `"backend":"`+name+`"`) {
					t.Errorf("%s, first %t: the failure of %s is not in the log: %s", c.name, first, name, &log)
				}
			}
			for _, o := range opened {
				if err := o.Close(); err != nil {
					t.Error(err)
				}
			}
			if n := open.Load(); n != 0 {
				t.Errorf("%s, first %t: %d stay open", c.name, first, n)
			}
		}
	}
}

// TestOpenCancelled: nothing stays open when the context ends during the opening.
func TestOpenCancelled(t *testing.T) {
	for name, f := range map[string]func(context.Context, []backend.Candidate, zerolog.Logger) ([]backend.Opened, error){
		"first": backend.OpenFirst, "all": backend.OpenAll,
	} {
		ctx, stop := context.WithCancel(t.Context())
		var open atomic.Int64
		last := candidate("opencl", "b", nil, &open)
		ending := last
		ending.Open = func(ctx context.Context) (plan.Backend, error) {
			stop()
			return last.Open(ctx)
		}
		opened, err := f(ctx, []backend.Candidate{candidate("host", "h", nil, &open), ending}, zerolog.Nop())
		if opened != nil || !errors.Is(err, context.Canceled) || open.Load() != 0 {
			t.Errorf("%s: %v, %v, %d stay open", name, names(opened), err, open.Load())
		}
	}
}

// TestGiven: a caller's backends are not closed, and the kind chooses among them.
func TestGiven(t *testing.T) {
	var open atomic.Int64
	open.Store(2)
	host := &counted{nil, plan.Info{Kind: "host", Device: "h"}, &open}
	device := &counted{nil, plan.Info{Kind: "opencl", Device: "d"}, &open}
	for kind, want := range map[string]string{
		backend.Auto: "h in reserve, d", backend.All: "h, d", backend.Host: "h", backend.OpenCL: "d",
	} {
		list, err := backend.Given([]plan.Backend{host, device}, kind)
		if err != nil {
			t.Fatal(err)
		}
		opened, err := backend.OpenAll(t.Context(), list, zerolog.Nop())
		if got := strings.Join(names(opened), ", "); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", kind, got, err, want)
		}
		for _, o := range opened {
			if err := o.Close(); err != nil || open.Load() != 2 {
				t.Errorf("%s was closed: %v", o.Name, err)
			}
		}
	}
	if list, err := backend.Given([]plan.Backend{host}, backend.Auto); err != nil || list[0].Reserve {
		t.Errorf("a host alone is in reserve: %v", err)
	}
	_, err := backend.Given([]plan.Backend{host}, backend.OpenCL)
	if d, ok := errors.AsType[*plan.DeviceError](err); !ok || !errors.Is(err, plan.ErrNoDevice) || d.Device != backend.OpenCL {
		t.Errorf("no device among the given backends: %v", err)
	}
}

// TestHost: the kind host looks for no device.
func TestHost(t *testing.T) {
	opt := backend.Options{Kind: backend.Host, Device: "no such device", Threads: 3}
	list, err := opt.Candidates(t.Context())
	if err != nil || len(list) != 1 || !list[0].Host || list[0].Reserve || list[0].Reason != "backend host" {
		t.Fatalf("%+v, %v", list, err)
	}
	opened, err := backend.OpenFirst(t.Context(), list, zerolog.Nop())
	if err != nil || len(opened) != 1 || opened[0].Info.Kind != "host" || opened[0].Info.ComputeUnits != 3 {
		t.Fatalf("%+v, %v", opened, err)
	}
	if err := opened[0].Close(); err != nil {
		t.Error(err)
	}
}

// TestWrongOptions: errors are typed and name the option.
func TestWrongOptions(t *testing.T) {
	tuning := filepath.Join(t.TempDir(), "rows.toml")
	if err := os.WriteFile(tuning, []byte("[broken"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := (&backend.Options{Kind: "cuda"}).Candidates(t.Context()); err == nil || !strings.Contains(err.Error(), `unknown backend "cuda" (one of auto, host, opencl, all)`) {
		t.Errorf("unknown kind: %v", err)
	}
	for _, kind := range backend.Kinds() {
		_, err := (&backend.Options{Kind: kind, Tuning: tuning}).Candidates(t.Context())
		if _, ok := errors.AsType[*config.Error](err); !ok || !strings.Contains(err.Error(), tuning) {
			t.Errorf("%s with damaged tuning rows: %v", kind, err)
		}
	}
}

// TestMissingDevice: the name of a device or of a platform that is not here. opencl refuses it;
// auto and all use the host alone and warn.
func TestMissingDevice(t *testing.T) {
	var log strings.Builder
	opt := backend.Options{Device: "no such platform", Log: zerolog.New(&log)}
	opt.Kind = backend.OpenCL
	_, err := opt.Candidates(t.Context())
	if d, ok := errors.AsType[*plan.DeviceError](err); !ok || !errors.Is(err, plan.ErrNoDevice) || !strings.Contains(d.Op, `named "no such platform"`) {
		t.Errorf("opencl: %v", err)
	}
	for _, kind := range []string{backend.Auto, backend.All} {
		log.Reset()
		opt.Kind = kind
		list, err := opt.Candidates(t.Context())
		if err != nil || len(list) != 1 || !list[0].Host || list[0].Reserve {
			t.Errorf("%s: %+v, %v", kind, list, err)
		}
		if !strings.Contains(log.String(), `"level":"warn","device":"no such platform"`) {
			t.Errorf("%s: no warning: %s", kind, &log)
		}
	}
}

// TestDevices: the device under test by its name, under every kind.
func TestDevices(t *testing.T) {
	name := testneeds.Device(t)
	for kind, want := range map[string]struct{ host, reserve bool }{
		backend.OpenCL: {}, backend.Auto: {true, true}, backend.All: {true, false},
	} {
		if name == "" && kind != backend.OpenCL {
			continue // the machine decides about devices that the caller does not name
		}
		opt := backend.Options{Kind: kind, Device: name}
		list, err := opt.Candidates(t.Context())
		if err != nil || len(list) == 0 || list[0].Host != want.host || list[0].Reserve != want.reserve {
			t.Errorf("%s: %+v, %v", kind, list, err)
			continue
		}
		opened, err := backend.OpenFirst(t.Context(), list, zerolog.Nop())
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if last := opened[len(opened)-1]; last.Info.Kind != "opencl" || last.Reason != "named by the caller" || len(opened) > 1 != want.host {
			t.Errorf("%s: %+v", kind, names(opened))
		}
		for _, o := range opened {
			if err := o.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestPassed: a device whose self-test another process has passed opens without it, unless it gets other kernels.
func TestPassed(t *testing.T) {
	name := testneeds.Device(t)
	for _, c := range []struct{ passed, loads, tested bool }{{false, false, true}, {true, false, false}, {true, true, true}} {
		var log strings.Builder
		opt := backend.Options{Kind: backend.OpenCL, Device: name, CountLoads: c.loads, Log: zerolog.New(&log),
			Passed: func(i plan.Info) bool { return c.passed && i.Kind == "opencl" }}
		list, err := opt.Candidates(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		opened, err := backend.OpenFirst(t.Context(), list, opt.Log)
		if err != nil {
			t.Fatal(err)
		}
		if tested := strings.Contains(log.String(), "self-test passed"); tested != c.tested || tested == strings.Contains(log.String(), "left out") {
			t.Errorf("%+v: log %s", c, &log)
		}
		if err := opened[0].Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestHostThreads: half of the cores at least, and one in eight is left to each device.
func TestHostThreads(t *testing.T) {
	if n := backend.HostThreads(0); n < 1 || backend.HostThreads(1) > n || 2*backend.HostThreads(100) < n {
		t.Errorf("%d threads without a device, %d beside one, %d beside 100", n, backend.HostThreads(1), backend.HostThreads(100))
	}
}
