package cost

import "time"

// Model says what queries of a kind take on a backend. It is safe for concurrent use.
type Model struct{}

// Alone is what a query takes that runs by itself.
func (m *Model) Alone(f *Features) time.Duration { return time.Duration(20_000 + f.UBOC/4) }

// Added is what a query adds to a batch that runs anyway.
func (m *Model) Added(f *Features) time.Duration { return time.Duration(1000 + f.UBOC/4) }

// Start is what a batch takes beside what its queries add.
func (m *Model) Start() time.Duration { return 20 * time.Microsecond }

// Learn takes note of what a query took that ran by itself.
func (m *Model) Learn(f *Features, took time.Duration) {}

// LearnBatch takes note of what a batch of n queries took, whose Added sum up to added.
func (m *Model) LearnBatch(added time.Duration, n int, took time.Duration) {}
