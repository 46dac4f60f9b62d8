package flags

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"heddle/engine"
	"heddle/engine/syntax"
	"heddle/engine/syntax/pattern"
)

// Columns are the columns of --facets, with commas between them. It implements pflag.Value.
type Columns []string

// firstColumn is the first column of a list. It is in quotes, with two quotes for a quote, or has commas
// between brackets alone, as in bins(year, 1900). The search page of the console has the same expression.
var firstColumn = pattern.New(`^\s*(?:"((?:[^"]|"")+)"|((?:\((?:"[^"]*"|'[^']*'|[^)"'])*\)?|[^,(])*))\s*(?:,|$)`)

// Set adds columns.
func (c *Columns) Set(text string) error {
	for more := true; more; {
		found := firstColumn().FindStringSubmatch(text)
		column := strings.TrimSpace(found[2])
		if found[1] != "" {
			column = strings.ReplaceAll(found[1], `""`, `"`)
		}
		if column == "" {
			return errors.New("a column is missing")
		}
		*c, more, text = append(*c, column), strings.HasSuffix(found[0], ","), text[len(found[0]):]
	}
	return nil
}

func (c *Columns) String() string { return strings.Join(*c, ",") }

// Type implements pflag.Value.
func (c *Columns) Type() string { return "columns" }

// Total is Query.Total as a flag.
type Total uint64

func (t *Total) String() string { return "" }

func (t *Total) Type() string { return "NUMBER" }

// Set implements pflag.Value.
func (t *Total) Set(text string) error {
	if text == "true" {
		*t = engine.TotalExact
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == 0 {
		return fmt.Errorf("want a whole number above 0, found %s", syntax.Quote(text))
	}
	*t = Total(n)
	return nil
}
