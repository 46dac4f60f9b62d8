package observe

import (
	"context"

	"heddle/engine/schedule"
)

// All is an observer that tells each of the others, in their order. Those that are nil
// are left out; if none is left, All is nil.
func All(observers ...Observer) Observer {
	var a all
	for _, o := range observers {
		if o != nil {
			a = append(a, o)
		}
	}
	switch len(a) {
	case 0:
		return nil
	case 1:
		return a[0]
	}
	return a
}

type all []Observer

func (a all) Answered(ctx context.Context, q *Query) {
	for _, o := range a {
		o.Answered(ctx, q)
	}
}

func (a all) Happened(e schedule.Event) {
	for _, o := range a {
		o.Happened(e)
	}
}
