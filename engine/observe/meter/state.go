package meter

import (
	"maps"
	"slices"

	"heddle/engine/internal/resultcache"
	"heddle/engine/plan"
	"heddle/engine/schedule"
)

// State is what an engine knows of itself at a moment.
type State struct {
	Schedule schedule.Stats
	Results  resultcache.Stats
	// By the name of a processor:
	Lists    map[string]plan.CacheStats // where lists are brought in on demand
	Resident map[string]uint64          // bytes of its memory that lists and tables take
}

// Each yields what s says as values of metrics, processors in the order of their names.
func (s *State) Each(yield func(d *Desc, value float64, labels ...string)) {
	count := func(d *Desc, n uint64, labels ...string) { yield(d, float64(n), labels...) }
	truth := func(d *Desc, is bool, labels ...string) {
		n := uint64(0)
		if is {
			n = 1
		}
		count(d, n, labels...)
	}
	h := &s.Schedule
	truth(synchronous, h.Mode == schedule.Sync)
	yield(load, h.Load)
	for class, n := range h.Queued {
		count(waiting, uint64(n), schedule.Class(class).String())
	}
	count(room, uint64(h.Capacity))
	count(jobs, h.Answered, "answered")
	count(jobs, h.Failed, "failed")
	count(jobs, h.Refused, "refused")
	count(jobs, h.Expired, "expired")
	count(stolen, h.Stolen)
	for _, p := range h.Processors {
		truth(up, p.Out == nil, p.Name)
		count(running, uint64(p.Running), p.Name)
		count(batches, p.Batches, p.Name)
		count(done, p.Jobs, p.Name)
		yield(busy, p.Busy.Seconds(), p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Resident)) {
		count(resident, s.Resident[name], name)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Lists)) {
		c := s.Lists[name]
		count(listRoom, c.Capacity, name)
		count(listUsed, c.Used, name)
		count(lists, uint64(c.Lists), name)
		count(listHits, c.Hits, name)
		count(listMisses, c.Misses, name)
		count(listEvicted, c.Evicted, name)
		count(listBytes, c.BytesIn, name)
	}
	r := &s.Results
	count(resultRoom, r.Capacity)
	count(resultUsed, r.Bytes)
	count(results, uint64(r.Entries))
	count(resultHits, r.Hits)
	count(resultMisses, r.Misses)
	count(resultEvicted, r.Evicted)
	count(resultRefused, r.Refused)
}
