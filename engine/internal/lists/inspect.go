package lists

import (
	"slices"

	"heddle/engine/internal/cost"
	"heddle/engine/internal/pool"
	"heddle/engine/internal/query"
	"heddle/engine/plan"
)

// Target is the lists of a generation on a processor, for measurements and reports.
type Target struct {
	Processor *pool.Processor
	Info      plan.Info // description of the backend; for shards, of all devices together
	Why       string    // why the lists lie there
	Model     string    // name in cost models
	Store     plan.Store
	Cached    plan.CachedStore // nil: all lists are resident
	Models    []*cost.Model    // by cost.Kind

	r *residence
}

// Targets returns the lists of g on all processors that have them.
func (g *Generation) Targets() (all []Target) {
	for _, r := range g.at {
		if r == nil {
			continue
		}
		model, models := r.p.Model(), make([]*cost.Model, costKinds)
		if !r.p.Host {
			model = r.info.Device
		}
		for k := range models {
			models[k] = r.models[k]()
		}
		all = append(all, Target{r.p, r.info, r.Why, model, r.store, r.Cached, models, r})
	}
	return all
}

// Threshold returns the load that closes batches of a kind.
func (t *Target) Threshold(k *query.Kind) uint64 { return t.r.threshold(k, 0) }

// On reports whether a processor has the lists.
func (g *Generation) On(processor string) bool {
	return slices.ContainsFunc(g.at, func(r *residence) bool { return r != nil && r.p.Name == processor })
}
