package lists

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/internal/cputime"
)

// croaringExhibit measures the operations of exhibit sets with pure Go and with CRoaring.
func (s *bench) croaringExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "croaring", Title: "AND of successive pairs and OR of all lists of real sets, pure Go and CRoaring",
		Ours: "One core, in turns, least CPU time of a round. CRoaring's bitmaps are run-optimised before; its docIDs are arrays in reused memory, like ours. Raw lists. All docIDs are compared. Ratio: CRoaring's time over heddle's.",
		Rows: "lists",
		Run: func(ctx context.Context) error {
			if _, ok := s.Host(); !ok || s.Opt.CRoaring == "" || s.Opt.Real == "" {
				s.Logf("croaring left out: it needs pure Go, --croaring DIR, the prefix of an installation of CRoaring, and --real DIR")
				return nil
			}
			folder, err := os.MkdirTemp("", "heddle-croaring-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(folder)
			driver, err := buildDriver(ctx, s.Opt.CRoaring, folder)
			if err != nil {
				return err
			}
			sets, err := workload.ReadSets(s.Opt.Real)
			if err != nil {
				return err
			}
			for _, c := range sets {
				if err := s.raceCRoaring(ctx, driver, filepath.Join(folder, "lists"), c); err != nil {
					return fmt.Errorf("%s: %w", c.Name, err)
				}
			}
			return nil
		},
	}
}

// rounds is the number of rounds of an operation in one turn.
const rounds = 20

// raceCRoaring measures one set of lists. path is a file for the lists.
func (s *bench) raceCRoaring(ctx context.Context, driver *roaringDriver, path string, c workload.Collection) error {
	if err := writeLists(path, c.Lists); err != nil {
		return err
	}
	and, or, closeAll, err := s.ourAnswers(ctx, c, 1)
	defer closeAll()
	if err != nil {
		return err
	}
	ours := []wholeAnswer{and[0], and[1], or[0], or[1]} // answers of raw lists, in the order of operations
	least := make([][2]float64, len(ours))              // heddle, CRoaring
	for i := range least {
		least[i] = [2]float64{math.Inf(1), math.Inf(1)}
	}
	for range s.Opt.Runs {
		theirs, err := driver.Run(ctx, path, rounds)
		if err != nil {
			return err
		}
		for i, w := range ours {
			name := operations[i]
			t, matches, err := leastTime(w)
			if err != nil {
				return err
			}
			if peer := theirs[name]; matches != peer.Matches || driverDigest(w.out.Docs) != peer.Digest {
				return fmt.Errorf("%s: %d docIDs, CRoaring has %d, or other ones", name, matches, peer.Matches)
			}
			least[i] = [2]float64{min(least[i][0], t), min(least[i][1], theirs[name].Micros)}
		}
	}
	for i, l := range least {
		name := operations[i]
		row := measure.Row{Workload: c.Name, Row: name, Metric: "time", Unit: "µs", Backend: "host", Baseline: "croaring", Ratio: l[1] / l[0]}
		s.Put(harness.Reading{Series: name, At: c.Name, Row: measure.Single(l[0]).Into(row)})
		row = measure.Row{Workload: c.Name, Row: "croaring " + name, Metric: "time", Unit: "µs"}
		s.Put(harness.Reading{Series: "CRoaring " + name, At: c.Name, Row: measure.Single(l[1]).Into(row)})
	}
	return nil
}

// leastTime returns the least CPU time of a round of w, in microseconds, and the number of
// docIDs.
func leastTime(w wholeAnswer) (micros float64, matches uint64, err error) {
	micros = math.Inf(1)
	for range rounds {
		began := cputime.Total()
		n := 0
		for n == 0 || cputime.Total()-began < measure.LeastTime/rounds {
			for range max(n, 1) { // reading the time takes as long as a short operation
				if matches, err = w.run(); err != nil {
					return 0, 0, err
				}
				n++
			}
		}
		micros = min(micros, float64((cputime.Total()-began).Nanoseconds())/1e3/float64(n))
	}
	return micros, matches, nil
}
