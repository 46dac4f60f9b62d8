package engine

import (
	"heddle/engine/observe/meter"
	"heddle/engine/plan"
)

// Meter says what the engine knows of itself, to be asked for with each snapshot of
// metrics: memory.Register(e.Meter). Package meter tells what EngineOptions.Observer makes
// of queries.
func (e *Engine) Meter() meter.State {
	st := e.Stats()
	s := meter.State{Schedule: st.Stats, Results: st.Results, Lists: make(map[string]plan.CacheStats), Resident: make(map[string]uint64)}
	for i, l := range st.Lists {
		name := st.Processors[i].Name
		s.Resident[name] = l.Bytes
		if l.Cache != nil {
			s.Lists[name] = *l.Cache
		}
	}
	return s
}
