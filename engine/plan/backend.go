package plan

import "context"

// Backend is a place where lists can live and batches can run: pure Go on all
// cores, or one OpenCL device. It is safe for concurrent use.
type Backend interface {
	Info() Info
	// Load makes the lists of src resident. It checks first that they fit and
	// returns ErrOutOfMemory, with sizes, before anything is allocated.
	Load(ctx context.Context, src *Source) (Store, error)
	// LoadTable makes the vectors and values of t resident, under the same terms.
	LoadTable(ctx context.Context, t *Table) (TableStore, error)
	// Close releases the backend; its stores must be closed before.
	Close() error
}

// Store is a set of resident lists. It is safe for concurrent use; batches of
// concurrent callers overlap on the device.
type Store interface {
	// Match answers every query of b into out. The batch must be valid for the
	// store's source (MatchBatch.Validate). Match returns early with ctx.Err() when
	// ctx ends, and the store stays usable. An expression with more lists than the
	// backend takes gives ErrTooLarge, an unknown algorithm or a filter of another
	// backend ErrUnsupported.
	Match(ctx context.Context, b *MatchBatch, out *Results) error
	// Rank answers every query of r into out, under the same terms as Match. The
	// batch must be valid (RankBatch.Validate). The first call makes frequencies and
	// document lengths resident.
	Rank(ctx context.Context, r *RankBatch, out *TopK) error
	// Filter makes a set of documents resident for queries of this store: bit d%64 of word
	// d/64 is document d. bits has FilterWords of the number of documents, is copied, and
	// has no document outside. A backend without filters (Info.Filters) gives
	// ErrUnsupported.
	Filter(ctx context.Context, bits []uint64) (Filter, error)
	// Sets makes the documents of each query of b a filter, under the same terms as Match and Filter.
	// The filters of b restrict them. out is empty before, and after an error.
	Sets(ctx context.Context, b *MatchBatch, out *Sets) error
	// Explain names the method for list h under algorithm a in a short text such as
	// "bitset, one load" or "hs16: buckets of 13".
	Explain(a Algorithm, h Handle) string
	// ExplainBatch names the algorithm that b runs under, with a reason where the
	// backend chose it, in a short text such as "bits: tables fit".
	ExplainBatch(b *MatchBatch) string
	// Memory is the size of the store on its backend in bytes, with auxiliary tables.
	Memory() uint64
	Close() error
}

// Info describes a backend. A field that does not apply to the backend is zero.
type Info struct {
	Kind         string // "host" or "opencl"
	Device       string // "AMD EPYC, 2 cores" or the OpenCL device name
	Platform     string // OpenCL platform, empty for host
	Vendor       string
	Driver       string
	Version      string // OpenCL version of the device
	Type         string // "cpu", "gpu", "accelerator"
	ComputeUnits int
	Memory       uint64 // bytes of global memory
	MaxAlloc     uint64 // bytes of the largest buffer
	LocalMemory  uint64 // bytes a work-group
	Tuning       string // name of the tuning row in force
	Batch        uint64 // load of a batch, in candidates, above which throughput hardly rises
	// BatchPostings is the load of a ranked batch, in postings, above which throughput hardly rises.
	BatchPostings uint64
	// RankBatches is the greatest number of ranked batches that a store runs at the
	// same time; 0 is no limit. Few large batches share more decoding than many small
	// ones.
	RankBatches int
	// Filters tells whether the stores of the backend restrict queries to filters.
	Filters bool
	// Algorithms that the backend runs, besides Auto.
	Algorithms []Algorithm
}
