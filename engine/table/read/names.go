package read

import (
	"fmt"
	"strconv"
)

// Rename makes names different: an empty name becomes columnN, and the second of two equal names gets a number. It
// returns the place of the first name that equals another one; -1 if all are different.
func Rename(names []string) (different []string, first int) {
	taken, used, last := map[string]bool{}, map[string]bool{}, map[string]int{}
	for i, name := range names {
		if name == "" {
			name = fmt.Sprintf("column%d", i+1)
		}
		taken[name] = true
		different = append(different, name)
	}
	first = -1
	for i, given := range different {
		name := given
		for used[name] {
			last[given]++
			if next := given + "_" + strconv.Itoa(last[given]); !taken[next] {
				name = next
			}
		}
		if used[name] = true; name != given && first < 0 {
			first = i
		}
		different[i] = name
	}
	return different, first
}
