package cl

import (
	"context"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/plantest/matchtest"
	"heddle/engine/plan/plantest/ranktest"
	"heddle/engine/plan/plantest/selecttest"
	"heddle/engine/plan/testneeds"
)

// TestExpressionsInLittleScratch runs the cases of boolean expressions over scratchShapes of the
// kernels, with rounds of one range of one expression. TestSuite runs them with the normal
// scratch memory.
func TestExpressionsInLittleScratch(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, everything).With(func(i *plan.Info, _ *device.Tuning) { i.Memory = 1 << 16 })
	for name, shape := range scratchShapes(d) {
		t.Run(name, func(t *testing.T) {
			matchtest.RunExpressions(t, func(t *testing.T) plan.Backend {
				b, err := Open(context.Background(), d, Options{Tuning: &shape, SkipSelfTest: true, MemoryLimit: 1 << 32})
				if err != nil {
					t.Fatal(err)
				}
				return b
			}, plantest.Options{Small: true, Corrupt: true, Codecs: scratchCodecs()})
		})
	}
}

// scratchShapes are the shapes of the kernels in the tests with little scratch memory: on a CPU the
// serial shape alone, unless testneeds.Full. The host makes the rounds, and TestSuite has all shapes.
func scratchShapes(d *device.Device) map[string]device.Tuning {
	shapes := devicetest.Shapes(d)
	if d.Info().Type == "cpu" && !testneeds.Full() {
		delete(shapes, "local")
	}
	return shapes
}

// scratchCodecs are the codecs of the tests with little scratch memory. TestSuite has all codecs.
func scratchCodecs() []codec.ID {
	if testneeds.Full() {
		return []codec.ID{codec.Raw, codec.ParaPFor, codec.Bitset, codec.RPFD, codec.HSLRC128}
	}
	return []codec.ID{codec.Raw, codec.ParaPFor, codec.Bitset}
}

// largestRanked is plantest.Options.Ranked. The largest universe has a million ranges of
// documents: with -short, a CPU runs them in the serial shape alone.
func largestRanked(d *device.Device, shape device.Tuning) uint32 {
	if devicetest.Small() && !shape.Serial && d.Info().Type == "cpu" {
		return 1 << 20
	}
	return 0
}

// TestRanksInLittleScratch runs the cases of Store.Rank over scratchShapes of the kernels, with
// rounds of few queries, or a window of few ranges of one, and few candidates. TestSuite runs
// them with the normal scratch memory.
func TestRanksInLittleScratch(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, everything).With(func(i *plan.Info, _ *device.Tuning) { i.Memory = 1 << 16 })
	for name, shape := range scratchShapes(d) {
		t.Run(name, func(t *testing.T) {
			opt := plantest.Options{Small: true, Corrupt: true, Codecs: scratchCodecs()}
			opt.Ranked = largestRanked(d, shape)
			ranktest.Run(t, func(t *testing.T) plan.Backend {
				b, err := Open(context.Background(), d, Options{Tuning: &shape, SkipSelfTest: true, MemoryLimit: 1 << 32})
				if err != nil {
					t.Fatal(err)
				}
				return b
			}, opt)
		})
	}
}

// TestTables runs the suite of tables over both shapes of the kernels.
func TestTables(t *testing.T) {
	d := devicetest.Find(t, everything)
	for name, shape := range devicetest.Shapes(d) {
		t.Run(name, func(t *testing.T) {
			selecttest.Run(t, func(t *testing.T) plan.Backend {
				b, err := Open(context.Background(), d, Options{Tuning: &shape, SkipSelfTest: true})
				if err != nil {
					t.Fatal(err)
				}
				return b
			}, plantest.Options{Small: devicetest.Small(), Corrupt: true})
		})
	}
}
