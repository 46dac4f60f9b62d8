package flags

import (
	"slices"
	"testing"
)

// TestFacetColumns: a comma separates columns outside of quotes and brackets.
func TestFacetColumns(t *testing.T) {
	for text, want := range map[string][]string{
		`lang, year`:                     {"lang", "year"},
		`"a,b",year`:                     {"a,b", "year"},
		` "a,b" , "say ""so""" `:         {"a,b", `say "so"`},
		`5" pipe,year`:                   {`5" pipe`, "year"},
		`"f(x",year`:                     {"f(x", "year"},
		`f(x),year`:                      {"f(x)", "year"},
		`bins(year, 1900, 1950),lang`:    {"bins(year, 1900, 1950)", "lang"},
		`"bins(year, 1900)",lang`:        {"bins(year, 1900)", "lang"},
		`bins(name, 'a (b', 'c)'), lang`: {"bins(name, 'a (b', 'c)')", "lang"},
		`bins("a,)b", 1, 2),lang`:        {`bins("a,)b", 1, 2)`, "lang"},
		`year,`:                          nil, `,year`: nil, ``: nil, ` `: nil, `a,,b`: nil,
	} {
		var c Columns
		if err := c.Set(text); (err == nil) != (want != nil) || want != nil && !slices.Equal(c, want) {
			t.Errorf("%s: %q, %v, want %q", text, []string(c), err, want)
		}
	}
}
