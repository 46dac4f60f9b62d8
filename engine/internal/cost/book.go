package cost

import (
	"sync"
)

// Book is the models of an index, by backend and kind of query. It is safe for concurrent
// use. Load and Save keep it in a file beside the index.
type Book struct {
	index  uint64 // checksum
	metric Metric

	mu     sync.Mutex
	models map[key]*Model
	saved  uint64 // of learnt, when the Book was last written
}

type key struct {
	backend string
	kind    Kind
}

// NewBook is a book without calibration, for the index of a checksum. Its models estimate
// by the metric.
func NewBook(index uint64, m Metric) *Book {
	return &Book{index: index, metric: m, models: map[key]*Model{}}
}

// Model gives that of a backend and a kind of query, the same one every time. The backend
// is Host, or the name of a device. One that is not in the book starts from a guess, and
// learns.
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

// Changed tells whether a model has learnt something since the book was made, loaded or
// last saved.
func (b *Book) Changed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.learnt() != b.saved
}

// learnt counts what all models have learnt.
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
