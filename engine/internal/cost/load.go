package cost

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"heddle/engine/file/auxiliary"
	"heddle/engine/file/container"
	"heddle/engine/syntax"
)

// CorruptError reports a file that is damaged or is not a book. errors.Is finds
// container.ErrCorrupt.
type CorruptError struct {
	Path string
	Err  error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: no costs of queries, or damaged ones: %v (heddle calibrate makes them again)", e.Path, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// Is finds container.ErrCorrupt.
func (e *CorruptError) Is(target error) bool { return target == container.ErrCorrupt }

// OtherIndexError reports a book of another index, or of an earlier version of the index.
type OtherIndexError struct {
	Path        string
	Index, Want uint64 // checksums
}

func (e *OtherIndexError) Error() string {
	return fmt.Sprintf("%s: these are costs of the index of checksum %016x, not of %016x", e.Path, e.Index, e.Want)
}

// mostBytes bounds the file of a Book. The models of a processor take about 30 KiB.
const mostBytes = 64 << 20

// Load reads the book at path for the index with this checksum. Its models use the metric.
// Errors: fs.ErrNotExist, auxiliary.ErrNotRegular, auxiliary.ErrTooLarge, *OtherIndexError,
// *CorruptError.
func Load(path string, index uint64, m Metric) (*Book, error) {
	data, err := auxiliary.Read(path, mostBytes)
	if err != nil {
		return nil, err
	}
	b := NewBook(index, m)
	if err := b.read(data); err != nil {
		if other, ok := errors.AsType[*OtherIndexError](err); ok {
			other.Path = path
			return nil, other
		}
		return nil, &CorruptError{path, err}
	}
	return b, nil
}

func (b *Book) read(data []byte) error {
	var f bookFile
	if err := json.Unmarshal(data, &f); err != nil {
		return syntax.JSON(data, err)
	}
	if f.Version != fileVersion {
		return fmt.Errorf("version %d, where %d is known", f.Version, fileVersion)
	}
	index, err := strconv.ParseUint(f.Index, 16, 64)
	if err != nil {
		return fmt.Errorf("index %q is no checksum", f.Index)
	}
	if index != b.index {
		return &OtherIndexError{Index: index, Want: b.index}
	}
	var plain bytes.Buffer
	if err := json.Compact(&plain, f.Models); err != nil {
		return fmt.Errorf("models: %w", err)
	}
	if sum := checksum(plain.Bytes()); sum != f.Checksum {
		return fmt.Errorf("the models have checksum %s, not %q", sum, f.Checksum)
	}
	var models []modelFile
	if err := json.Unmarshal(f.Models, &models); err != nil {
		return syntax.JSON(f.Models, err)
	}
	for i := range models {
		if err := b.readModel(&models[i]); err != nil {
			return fmt.Errorf("model of %s on %q: %w", models[i].Kind, models[i].Backend, err)
		}
	}
	return nil
}

func (b *Book) readModel(f *modelFile) error {
	name := f.Kind
	if name == "formula" { // in files of earlier versions
		name = Boolean.String()
	}
	k, err := ParseKind(name)
	if err != nil {
		return err
	}
	m := b.Model(f.Backend, k)
	if len(f.Fits) == 0 {
		return errors.New("nothing is fitted")
	}
	c := &Calibration{Samples: f.Samples, Batches: f.Batches, BatchError: f.BatchError}
	for i := range f.Fits {
		fit, err := readFit(&f.Fits[i])
		if err != nil {
			return fmt.Errorf("metric %s: %w", f.Fits[i].Metric, err)
		}
		c.Fits = append(c.Fits, fit)
	}
	s := &state{}
	s.start.store(f.Start)
	s.bring.store(f.Bring)
	if !fine(f.Start) || !fine(f.Bring) || !fine(f.BatchError) {
		return fmt.Errorf("batches from %v ns, %v ns a missing byte", f.Start, f.Bring)
	}
	if s.added, err = readCurve(Ding, &f.Added); err != nil {
		return err
	}
	if f.Samples > 0 {
		s.alone = c.fit(m.metric).alone
		m.use(c, s)
		return nil
	}
	if s.alone = c.Fits[0].alone; s.alone.metric != m.state.Load().alone.metric {
		s.alone = m.state.Load().alone
	}
	m.state.Store(s)
	return nil
}

func readFit(f *fitFile) (fit Fit, err error) {
	if fit.Metric, err = ParseMetric(f.Metric); err != nil || fit.Metric == Best {
		return fit, errors.New("there is no such one")
	}
	fit.Linear, fit.Corrected = f.Linear, f.Corrected
	if !fine(f.Linear) || !fine(f.Corrected) {
		return fit, fmt.Errorf("errors %v and %v", f.Linear, f.Corrected)
	}
	if r := f.Regression; r != nil {
		if k := len(fit.Metric.Names()); len(r.Coefficients) != k || len(r.Ps) != k {
			return fit, fmt.Errorf("%d coefficients", len(r.Coefficients))
		}
		fit.Regression = Regression{fit.Metric, r.Samples, r.Intercept, r.Coefficients, r.R2, r.P, r.Ps}
	}
	fit.alone, err = readCurve(fit.Metric, &f.Alone)
	return fit, err
}

// fine tells whether a cost is in range.
func fine(v float64) bool { return v >= 0 && v < 1e18 }

func readCurve(m Metric, f *curveFile) (*curve, error) {
	c := &curve{metric: m, split: f.Split}
	names := append([]string{aQuery}, m.Names()...)
	for name, v := range f.Costs {
		i := slices.Index(names, name)
		if i < 0 || !fine(v) {
			return nil, fmt.Errorf("%v ns for a %s", v, name)
		}
		c.costs[i] = v
	}
	for i := range f.Factors {
		each := c.parts[i].each()
		for name, factors := range f.Factors[i] {
			logs := each[name]
			if len(factors) > len(logs) {
				return nil, fmt.Errorf("%d factors of %q, there are %d", len(factors), name, len(logs))
			}
			for n, v := range factors {
				if logs[n].store(math.Log(v)); !fine(v) || v == 0 {
					return nil, fmt.Errorf("factor %v of %s", v, name)
				}
			}
		}
	}
	return c, nil
}
