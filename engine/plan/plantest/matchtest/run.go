// Package matchtest is the conformance suite for plan.Backend.Load and
// plan.Store.Match.
package matchtest

import (
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/testneeds"
)

type suite struct{ *plantest.Suite }

// Run runs the cases of conjunctions, boolean expressions, filters and the life of
// stores. It calls open for each backend that it needs and closes the backend.
func Run(t *testing.T, open func(t *testing.T) plan.Backend, opt plantest.Options) {
	su := suite{plantest.New(t, open, opt)}
	t.Run("unsupported", su.unsupported)
	t.Run("filters", su.filters)
	t.Run("filtered", testneeds.With(testneeds.OneCaller, su.filtered))
	t.Run("foreign", su.foreign)
	t.Run("lists", testneeds.With(testneeds.Sequential, su.lists))
	t.Run("lengths", testneeds.With(testneeds.Sequential, su.lengths))
	t.Run("universes", testneeds.With(testneeds.Sequential, su.universes))
	t.Run("shapes", testneeds.With(testneeds.OneCaller, su.shapes))
	t.Run("skew", testneeds.With(testneeds.OneCaller, su.skew))
	t.Run("random", testneeds.With(testneeds.OneCaller, su.random))
	t.Run("bigbatch", testneeds.With(testneeds.OneCaller, su.bigBatch))
	t.Run("bigquery", testneeds.With(testneeds.OneCaller, su.bigQuery))
	t.Run("mixed", testneeds.With(testneeds.OneCaller, su.mixed))
	t.Run("reuse", su.reuse)
	t.Run("borrow", su.borrow)
	t.Run("expressions", expressions{su}.run)
	t.Run("describe", su.describe)
	t.Run("concurrent", su.concurrent)
	t.Run("cancel", su.cancel)
	t.Run("close", su.close)
	t.Run("badsource", su.badSource)
	if opt.Corrupt {
		t.Run("corrupt", testneeds.With(testneeds.OneCaller, su.corrupt))
	}
}

// RunExpressions runs the cases of boolean expressions alone, for backends with
// options that concern no other query.
func RunExpressions(t *testing.T, open func(t *testing.T) plan.Backend, opt plantest.Options) {
	expressions{suite{plantest.New(t, open, opt)}}.run(t)
}
