package cost

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"heddle/engine/file/container"
	"heddle/engine/file/shared"
)

// fileVersion is the version of bookFile.
const fileVersion = 1

// bookFile is a Book as JSON.
type bookFile struct {
	Version  int             `json:"version"`
	Index    string          `json:"index"`    // checksum of the index file, in hexadecimal
	Checksum string          `json:"checksum"` // xxHash64 of models without white space, likewise
	Models   json.RawMessage `json:"models"`   // []modelFile
}

// modelFile is a Model. Without calibration it has one fit, of the learnt state.
type modelFile struct {
	Backend    string    `json:"backend"`
	Kind       string    `json:"kind"`
	Samples    int       `json:"samples,omitempty"`
	Batches    int       `json:"batches,omitempty"`
	BatchError float64   `json:"batch_error,omitempty"`
	Fits       []fitFile `json:"fits"`
	Added      curveFile `json:"added"` // cost of a query in a batch, by the features of Ding
	Start      float64   `json:"batch_ns"`
	Bring      float64   `json:"missing_byte_ns"`
}

type fitFile struct {
	Metric     string          `json:"metric"`
	Regression *regressionFile `json:"regression,omitempty"`
	Linear     float64         `json:"linear_error,omitempty"`
	Corrected  float64         `json:"corrected_error,omitempty"`
	Alone      curveFile       `json:"alone"`
}

type regressionFile struct {
	Samples      int       `json:"samples"`
	R2           float64   `json:"r2"`
	P            float64   `json:"p"`
	Ps           []float64 `json:"ps"`
	Intercept    float64   `json:"intercept_ms"`
	Coefficients []float64 `json:"coefficients_ms"`
}

// curveFile has the costs of a query and of the values of the metric, by name, and the
// factors of each feature: by octave, or by number for terms and dense lists. Factor "all"
// applies to every query. Queries with Common below Split use the first set of factors.
type curveFile struct {
	Costs   map[string]float64      `json:"ns"`
	Split   float64                 `json:"split,omitempty"`
	Factors [2]map[string][]float64 `json:"factors"`
}

// aQuery is the name of the fixed cost of a query.
const aQuery = "query"

// Save writes the book to a temporary file, syncs it and renames it to path.
func (b *Book) Save(path string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	learnt := b.learnt()
	data, err := b.marshal()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := write(path, data); err != nil {
		return err
	}
	b.saved = learnt
	return nil
}

func (b *Book) marshal() ([]byte, error) {
	all := []modelFile{}
	for at, m := range b.models {
		all = append(all, m.file(at))
	}
	slices.SortFunc(all, func(x, y modelFile) int {
		return cmp.Or(strings.Compare(x.Backend, y.Backend), strings.Compare(x.Kind, y.Kind))
	})
	models, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(bookFile{fileVersion, fmt.Sprintf("%016x", b.index), checksum(models), models})
	return append(data, '\n'), err
}

// checksum returns the checksum of models without white space.
func checksum(models []byte) string { return fmt.Sprintf("%016x", xxhash.Sum64(models)) }

// write replaces the file at path.
func write(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644) // CreateTemp restricts reading to the owner
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = shared.Replace(f.Name(), path); err != nil {
		return err
	}
	return container.OSDisk{}.SyncDir(filepath.Dir(path))
}

func (m *Model) file(at key) modelFile {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.state.Load()
	f := modelFile{Backend: at.backend, Kind: at.kind.String(), Added: s.added.file(), Start: s.start.load(), Bring: s.bring.load()}
	c := m.calibration
	if c == nil {
		f.Fits = []fitFile{{Metric: s.alone.metric.String(), Alone: s.alone.file()}}
		return f
	}
	f.Samples, f.Batches, f.BatchError = c.Samples, c.Batches, c.BatchError
	for _, fit := range c.Fits {
		r := fit.Regression
		f.Fits = append(f.Fits, fitFile{fit.Metric.String(), &regressionFile{r.Samples, r.R2, r.P, r.Ps, r.Intercept, r.Coefficients},
			fit.Linear, fit.Corrected, fit.alone.file()})
	}
	return f
}

func (c *curve) file() curveFile {
	f := curveFile{Costs: map[string]float64{}, Split: c.split}
	for i, name := range append([]string{aQuery}, c.metric.Names()...) {
		f.Costs[name] = c.costs[i]
	}
	for i := range c.parts {
		f.Factors[i] = map[string][]float64{}
		for name, logs := range c.parts[i].each() {
			var factors []float64
			for n := range logs {
				factors = append(factors, math.Exp(logs[n].load()))
			}
			for len(factors) > 0 && factors[len(factors)-1] == 1 { // unused
				factors = factors[:len(factors)-1]
			}
			if len(factors) > 0 {
				f.Factors[i][name] = factors
			}
		}
	}
	return f
}
