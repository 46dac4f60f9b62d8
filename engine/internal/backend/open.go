package backend

import (
	"context"
	"errors"
	"sync"

	"github.com/rs/zerolog"

	"heddle/engine/plan"
)

// Opened is a candidate whose backend is open.
type Opened struct {
	Candidate
	Backend plan.Backend
	Info    plan.Info
}

// Close closes the backend, unless its owner does.
func (o Opened) Close() error {
	if o.Kept {
		return nil
	}
	return o.Backend.Close()
}

// OpenFirst opens the hosts of list and the first of its devices that works. Errors of devices
// are logged. The error is ctx.Err(), or joins the reasons if no backend works; no backend
// stays open then.
func OpenFirst(ctx context.Context, list []Candidate, log zerolog.Logger) ([]Opened, error) {
	var rest []error
	var devices, hosts []Candidate
	for _, c := range list {
		if c.Host {
			hosts = append(hosts, c)
		} else {
			devices = append(devices, c)
		}
	}
	open, err := OpenAll(ctx, hosts, log)
	if err != nil {
		rest = append(rest, err)
	}
	for _, c := range devices {
		one, err := OpenAll(ctx, []Candidate{c}, log)
		if err == nil {
			return append(open, one...), nil
		}
		rest = append(rest, err)
		if ctx.Err() != nil {
			return nil, errors.Join(append(rest, closeAll(open))...)
		}
	}
	if len(open) == 0 {
		return nil, errors.Join(rest...)
	}
	for i := range open { // no device works: the host is no reserve
		open[i].Reserve = false
	}
	return open, nil
}

// OpenAll opens all backends of list at the same time; opening a device tests it. Backends that
// fail are logged and left out. The error is ctx.Err(), or joins the reasons if no backend
// works; no backend stays open then.
func OpenAll(ctx context.Context, list []Candidate, log zerolog.Logger) (open []Opened, err error) {
	all, errs := make([]Opened, len(list)), make([]error, len(list))
	var wg sync.WaitGroup
	for i, c := range list {
		wg.Go(func() {
			all[i].Candidate = c
			if all[i].Backend, errs[i] = c.Open(ctx); errs[i] == nil {
				all[i].Info = all[i].Backend.Info()
			}
		})
	}
	wg.Wait()
	for i, o := range all {
		switch {
		case errs[i] == nil:
			open = append(open, o)
		case ctx.Err() == nil:
			log.Warn().Err(errs[i]).Str("backend", o.Name).Msg("backend not usable")
		}
	}
	if ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), closeAll(open))
	}
	if len(open) == 0 {
		return nil, errors.Join(errs...)
	}
	return open, nil
}

func closeAll(open []Opened) (err error) {
	for _, o := range open {
		err = errors.Join(err, o.Close())
	}
	return err
}
