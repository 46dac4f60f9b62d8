package inspect

import (
	"context"
	"slices"
	"sync"
	"time"

	"heddle/engine/api"
)

// kept is the number of events that the service keeps: one a second, of 15 minutes.
const kept = 15 * 60

// event is a Status as JSON.
type event struct {
	at   time.Time
	text []byte
}

// history has the last events, the oldest first.
type history struct {
	mu  sync.Mutex
	all []event
}

func (h *history) add(e event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.all) == kept {
		h.all = slices.Delete(h.all, 0, 1)
	}
	h.all = append(h.all, e)
}

// since returns the events after a time.
func (h *history) since(t time.Time) []event {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.all, func(e event) bool { return e.at.After(t) })
	if i < 0 {
		return nil
	}
	return slices.Clone(h.all[i:])
}

// Record keeps an event a second for clients that come later, until the context ends.
func (s *Service) Record(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for last := s.start; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if now, err := s.mark(); err == nil { // else the engine is not open
			s.past.add(event{now.at, api.AppendJSON(nil, s.status(&last, &now))})
			last = now
		}
	}
}
