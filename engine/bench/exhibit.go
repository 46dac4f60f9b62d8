package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// exhibit is a table or a figure of a paper that is measured anew, or a row of
// figures of our own. Its name starts with the paper: ao-fig5.
type exhibit struct {
	name   string
	title  string
	source string // "Ao et al. 2011, Figure 5"
	// says is what the source's text says of it, ours what is different here.
	says, ours string

	// orders that it wants a workload of; nil: it runs once and without.
	orders func(o *Options) []Order
	run    func(ctx context.Context, s *session) error

	rows  string // what the rows of its tables are: "threshold"
	chart chart  // how it is drawn; the zero value is not
}

// isFigure tells figures from tables and rows.
func (e *exhibit) isFigure() bool { return strings.Contains(e.name, "-fig") }

// heading names the exhibit and its source.
func (e *exhibit) heading() string {
	if e.source == "" {
		return e.name + ": " + e.title
	}
	return e.name + ": " + e.title + " (" + e.source + ")"
}

// allOrders, firstOrder and govOrder are what exhibits want: every order that is
// measured; the first one, where numbering changes nothing; and the one that
// stands for GOV, where the paper shows GOV alone.
func allOrders(o *Options) []Order  { return o.Orders }
func firstOrder(o *Options) []Order { return o.Orders[:1] }
func govOrder(o *Options) []Order {
	if slices.Contains(o.Orders, Clustered) {
		return []Order{Clustered}
	}
	return o.Orders[:1]
}

// ListsExhibits and DecodeExhibits describe what Lists and Decode reproduce, a
// line each, which starts with the name.
func ListsExhibits() []string  { return headings(listsExhibits()) }
func DecodeExhibits() []string { return headings(decodeExhibits()) }

func headings(all []exhibit) (out []string) {
	for i := range all {
		out = append(out, all[i].heading())
	}
	return out
}

// CheckLists and CheckDecode report names in opt.Figures and opt.Tables that are
// none of Lists or Decode.
func CheckLists(opt Options) error  { return check(listsExhibits(), opt) }
func CheckDecode(opt Options) error { return check(decodeExhibits(), opt) }

func check(all []exhibit, opt Options) error {
	_, err := choose(all, opt.Figures, opt.Tables)
	return err
}

// choose returns the named exhibits in their own order, all of them when none is
// named.
func choose(all []exhibit, figures, tables []string) (chosen []exhibit, err error) {
	wanted := make(map[string]bool)
	for _, kind := range []struct {
		name   string
		figure bool
		words  []string
	}{{"figure", true, figures}, {"table", false, tables}} {
		var names []string
		for i := range all {
			if all[i].isFigure() == kind.figure {
				names = append(names, all[i].name)
			}
		}
		for _, w := range kind.words {
			w = strings.ToLower(strings.TrimSpace(w))
			if !slices.Contains(names, w) {
				return nil, fmt.Errorf("unknown %s %q (one of %s)", kind.name, w, strings.Join(names, ", "))
			}
			wanted[w] = true
		}
	}
	for _, e := range all {
		if len(wanted) == 0 || wanted[e.name] {
			chosen = append(chosen, e)
		}
	}
	return chosen, nil
}
