package hdl

import (
	"iter"
	"sort"
	"strings"

	"heddle/engine/file/mapped"
	"heddle/engine/plan"
)

// Prefix yields the terms that begin with prefix, in ascending order. It is safe for
// concurrent use.
func (f *File) Prefix(prefix string) iter.Seq[string] {
	return func(yield func(string) bool) {
		defer mapped.Unwatch(mapped.Watch())
		d := &f.dict
		first := sort.Search(d.Terms(), func(h int) bool { return string(d.term(plan.Handle(h))) >= prefix })
		for h := first; h < d.Terms(); h++ {
			if t := d.Term(plan.Handle(h)); !strings.HasPrefix(t, prefix) || !yield(t) {
				return
			}
		}
	}
}

// Prefix yields the terms that begin with prefix, by handle. It looks at all terms. It is
// safe for concurrent use.
func (d *Dictionary) Prefix(prefix string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for h := range d.Terms() {
			if t := d.term(plan.Handle(h)); strings.HasPrefix(string(t), prefix) && !yield(string(t)) {
				return
			}
		}
	}
}
