// Package bitmap measures ORs of bit vectors, predicates on tables, and the build of tables.
package bitmap

import (
	"fmt"

	"heddle/engine/bench/harness"
)

// Family measures ORs of bit vectors and tables, and reproduces the measurements of
// Nelson et al.
var Family = harness.Family{Name: "bitmap", Size: func(o *harness.Options) string { return fmt.Sprintf("%d rows", o.Rows) },
	Exhibits: func(r *harness.Runner) []harness.Exhibit {
		s := &bench{Runner: r, rowsOf: make(map[string]uint32), measured: make(map[int]bool), roaringSize: make(map[string]uint64)}
		return []harness.Exhibit{s.orExhibit(), s.sizesExhibit(), s.autoExhibit(), s.batchExhibit(), s.encodingsExhibit(), s.buildExhibit(),
			s.nelsonFigure8(), s.nelsonFigure9(), s.nelsonFigure10(), s.nelsonFigure11(), s.nelsonFigure12(), s.nelsonRows(),
			s.nelsonFigure13(), s.nelsonFigure14(), s.nelsonTable2()}
	}}

// bench measures all sets once, for all exhibits.
type bench struct {
	*harness.Runner
	costs       []*cost
	autos       []*autoCost
	measured    map[int]bool      // by size of words in bits
	rowsOf      map[string]uint32 // number of rows, by set
	roaringSize map[string]uint64 // bytes of the vectors of the largest query as Roaring bitmaps, by set
}
