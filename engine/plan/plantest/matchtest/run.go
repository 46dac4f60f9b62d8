// Package matchtest is the conformance suite for plan.Backend.Load and
// plan.Store.Match.
package matchtest

import (
	"testing"

	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

type suite struct{ *plantest.Suite }

// Run runs the cases of conjunctions, boolean expressions, filters and the life of
// stores. It calls open for each backend that it needs and closes the backend.
func Run(t *testing.T, open func(t *testing.T) plan.Backend, opt plantest.Options) {
	su := suite{plantest.New(t, open, opt)}
	t.Run("unsupported", su.unsupported)
	t.Run("filters", su.filters)
	t.Run("lists", su.lists)
	t.Run("lengths", su.lengths)
	t.Run("universes", su.universes)
	t.Run("shapes", su.shapes)
	t.Run("skew", su.skew)
	t.Run("random", su.random)
	t.Run("bigbatch", su.bigBatch)
	t.Run("bigquery", su.bigQuery)
	t.Run("mixed", su.mixed)
	t.Run("reuse", su.reuse)
	t.Run("expressions", expressions{su}.run)
	t.Run("describe", su.describe)
	t.Run("concurrent", su.concurrent)
	t.Run("cancel", su.cancel)
	t.Run("close", su.close)
	t.Run("badsource", su.badSource)
	if opt.Corrupt {
		t.Run("corrupt", su.corrupt)
	}
}

// RunExpressions runs the cases of boolean expressions alone, for backends with
// options that concern no other query.
func RunExpressions(t *testing.T, open func(t *testing.T) plan.Backend, opt plantest.Options) {
	expressions{suite{plantest.New(t, open, opt)}}.run(t)
}
