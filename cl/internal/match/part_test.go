package match

import (
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// TestPartWhole counts the commands of a round with short launches: PART takes one launch, PARA one for each tile.
func TestPartWhole(t *testing.T) {
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, rt *device.Runtime) {
		const queries = 5
		src := plantest.NewSource(1000)
		src.Add(t, codec.Raw, []uint32{1, 2, 3})
		src.Add(t, codec.Raw, []uint32{2, 3, 4})
		rt.FewGroups = 1
		m, err := loadFor(t.Context(), rt, &src.Source)
		if err != nil {
			t.Fatal(err)
		}
		defer m.close()
		commands := make(map[bool]int)
		for _, part := range []bool{false, true} {
			b := plan.MatchBatch{CountOnly: true, Algorithm: plan.BS, Part: part}
			for range queries {
				b.Add(&src.Source, 0, 1)
			}
			tables, err := m.set.TablesOf(t.Context(), plan.BS)
			if err != nil {
				t.Fatal(err)
			}
			x, err := m.take(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.send(t.Context(), x, &b, tables, position{}); err != nil {
				t.Fatal(err)
			}
			if err := <-x.Done; err != nil {
				t.Fatal(err)
			}
			commands[part] = len(x.Events)
			x.ReleaseEvents()
			m.slots.Give(x)
		}
		if commands[false]-commands[true] != queries-1 {
			t.Errorf("%d commands of PARA, %d of PART", commands[false], commands[true])
		}
	})
}
