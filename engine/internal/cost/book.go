package cost

import (
	"sync"
)

// Book holds the models of an index, by backend and kind of query. Load and Save keep it in
// a file beside the index. It is safe for concurrent use.
type Book struct {
	index  uint64 // checksum
	metric Metric

	mu     sync.Mutex
	models map[key]*Model
	saved  uint64 // value of learnt at the last Save
}

type key struct {
	backend string
	kind    Kind
}

// NewBook returns a book without calibration for the index with this checksum. Its models
// use the metric.
func NewBook(index uint64, m Metric) *Book {
	return &Book{index: index, metric: m, models: map[key]*Model{}}
}

// Model returns the model of a backend and a kind of query; repeated calls return the same
// model. The backend is Host or the name of a device. A model that the book lacks starts from
// a guess.
func (b *Book) Model(backend string, k Kind) *Model {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := key{backend, k}
	m := b.models[at]
	if m == nil {
		m = newModel(backend, k, b.metric)
		b.models[at] = m
	}
	return m
}

// Changed tells whether any model has learnt since NewBook, Load or the last Save.
func (b *Book) Changed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.learnt() != b.saved
}

// learnt is the number of runs that all models have learnt from.
func (b *Book) learnt() (n uint64) {
	for _, m := range b.models {
		m.mu.Lock()
		n += m.learnt
		m.mu.Unlock()
	}
	return n
}

// Path returns the default path of the book of an index file.
func Path(index string) string { return index + ".cost" }
