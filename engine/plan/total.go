package plan

// Total is the number of documents that match a query.
type Total struct {
	// Value is the number of documents, at most the number up to which they are counted.
	Value uint64 `json:"value"`
	// Exact is false if more documents match.
	Exact bool `json:"exact"`
}

// UpTo returns the total of n documents that are counted up to most.
func UpTo(n, most uint64) Total { return Total{min(n, most), n <= most} }
