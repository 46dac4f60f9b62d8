package work

// tasksPerThread is the number of tasks of a large batch for each thread: enough that
// no thread waits long for the last one.
const tasksPerThread = 16

// Grain returns the load of one task in a batch of the given total load, at least
// least.
func Grain(least, total uint64, threads int) uint64 {
	return max(least, total/uint64(tasksPerThread*threads))
}

// RangeLen returns the number of documents in each task of a query: a multiple of unit.
// A query of less than two grains, or on one thread, is one task over all docs.
func RangeLen(docs, unit, load, grain uint64, threads int) uint64 {
	parts := uint64(1)
	if threads > 1 {
		parts = max(min(load/grain, (docs+unit-1)/unit), 1)
	}
	return (docs/parts/unit + 1) * unit
}
