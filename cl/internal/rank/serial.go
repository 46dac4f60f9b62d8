package rank

// serialGroups is the number of work-groups of a query in the serial shape: as few as keep all cores busy, because
// each one has a threshold of its own. Only one group alone drops documents found.
func (x *slot) serialGroups(k *coarse) int {
	if k.pass == lostQueries {
		return 1
	}
	groups, queries := min(2*x.Device.Info.ComputeUnits, leastGroups(x.Device.Tuning)), len(k.queries)
	return max(1, (groups+queries-1)/queries) // a driver may report no compute units
}
