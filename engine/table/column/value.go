package column

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Format writes the value of a code as a literal of Compare without its quotes.
// Timestamps are in UTC; a year without four digits gives '@SECONDS'. A code outside of
// the column gives "?".
func (c *Column) Format(code uint64) string {
	key := c.Base + code
	switch c.Type {
	case Int:
		return strconv.FormatInt(KeyInt(key), 10)
	case Float:
		return strings.ToLower(strconv.FormatFloat(KeyFloat(key), 'g', -1, 64))
	case Bool:
		return strconv.FormatBool(key != 0)
	case Timestamp:
		return formatTimestamp(KeyInt(key))
	}
	if key < uint64(len(c.Dictionary)) {
		return c.Dictionary[key]
	}
	return "?"
}

func formatTimestamp(micros int64) string {
	if t := time.UnixMicro(micros).UTC(); t.Year() >= 0 && t.Year() <= 9999 {
		return t.Format("2006-01-02T15:04:05.999999Z07:00")
	}
	sign, n := "", uint64(micros)
	if micros < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("@%s%d.%06d", sign, n/1e6, n%1e6)
}

// Find gives the bin of a code, or that behind the gap in which it lies and false.
func (c *Column) Find(code uint64) (bin int, ok bool) {
	bin = sort.Search(len(c.Bins), func(i int) bool { return code <= c.Bins[i].Hi })
	return bin, bin < len(c.Bins) && c.Bins[bin].Lo <= code
}
