package plan

// Merge returns what two ascending lists have in common. It is what backends are
// held against, in self-tests, tests and benchmarks: as plain as can be.
func Merge(a, b []uint32) []uint32 {
	var out []uint32
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			out = append(out, a[i])
			i++
			j++
		}
	}
	return out
}
