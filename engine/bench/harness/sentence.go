package harness

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"reflect"
	"slices"
	"strings"
	"text/template/parse"

	"heddle/engine/bench/measure"
	"heddle/engine/syntax/pattern"
)

// A sentence about recorded figures is a template: what stands in {{…}} is computed from the
// rows, so that no figure in it can lack its row. Its functions:
//
//	rows PANEL SERIES PLACE   readings that match three patterns: "" is any, a|b one of both, * any text,
//	                          and @host or @opencl before the pattern of a panel one backend
//	one PANEL SERIES PLACE    the figure of one reading
//	over A B                  readings of A, each divided by the reading of B in its place
//	ours A, paper A           readings of A, each divided by the paper's figure; the paper's figures
//	x A, off A                places of A on the x axis, and their distances from the figures
//	above X A                 the readings of more than X
//	highest KEY A, lowest     one reading for each series, or for each of places
//	least, most, sum, to      of the figures: numbers, and "least to most"
//	ratio X Y                 X over Y
//	places A, first A         names of the places, of the first one
//	choices A                 series and places: "bs for 1 M and hs16 for 2 M"
var sentenceFuncs = map[string]any{
	"len":  func(a []Reading) int { return len(a) },
	"over": over, "above": above, "highest": highest, "lowest": lowest, "choices": choices, "least": least, "most": most, "to": to,
	"ours": func(a []Reading) ([]Reading, error) {
		return each(a, func(x Reading) (float64, bool) { return x.Median / x.Paper, x.Paper != 0 })
	},
	"paper": func(a []Reading) ([]Reading, error) {
		return each(a, func(x Reading) (float64, bool) { return x.Paper, x.Paper != 0 })
	},
	"x": func(a []Reading) ([]Reading, error) {
		return each(a, func(x Reading) (float64, bool) { return x.X, true })
	},
	"off": func(a []Reading) ([]Reading, error) {
		return each(a, func(x Reading) (float64, bool) { return math.Abs(x.Median - x.X), true })
	},
	"ratio":  func(x, y figure) figure { return x / y },
	"sum":    func(a []Reading) figure { return figure(measure.Mean(medians(a)) * float64(len(a))) },
	"places": func(a []Reading) string { return list(Distinct(a, byPlace)) },
	"first":  func(a []Reading) string { return list(Distinct(a[:min(1, len(a))], byPlace)) },
}

// figure is a number as the tables show it.
type figure float64

func (f figure) String() string { return measure.Number(float64(f)) }

// sentence makes the sentence of the exhibit from its rows, or states why they do not allow it.
func (e *Exhibit) sentence(r *record) (string, error) {
	if r == nil || e.Found == "" {
		return "", nil
	}
	var all []Reading
	for _, name := range r.names {
		all = append(all, r.panels[name]...)
	}
	find := func(panel, series, place string) ([]Reading, error) { return matching(all, panel, series, place) }
	funcs := maps.Clone(sentenceFuncs)
	funcs["rows"] = find
	funcs["one"] = func(panel, series, place string) (figure, error) {
		some, err := find(panel, series, place)
		if err == nil && len(some) != 1 {
			err = fmt.Errorf("%d rows of %s", len(some), words(panel, series, place))
		}
		if err != nil {
			return 0, err
		}
		return figure(some[0].Median), nil
	}
	trees, err := parse.Parse(e.Name, e.Found, "", "", funcs)
	if err != nil {
		return "", err
	}
	out, err := execute(trees[e.Name], funcs)
	if err := cmp.Or(e.foreign(all), err); err != nil {
		return fmt.Sprintf("not stated: %v.", err), nil
	}
	return out, nil
}

// execute evaluates a sentence. Package text/template would do it too, but it looks for methods by their names, so that
// the linker would keep all methods of all types: 10 MB of the program.
func execute(t *parse.Tree, funcs map[string]any) (string, error) {
	var out strings.Builder
	for _, n := range t.Root.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			out.Write(n.Text)
		case *parse.ActionNode:
			v, err := eval(n.Pipe, funcs)
			if err != nil {
				return "", err
			}
			fmt.Fprint(&out, v)
		default:
			return "", fmt.Errorf("%s is no text and no call", n)
		}
	}
	return out.String(), nil
}

// eval evaluates a call, a text or a number.
func eval(n parse.Node, funcs map[string]any) (reflect.Value, error) {
	switch n := n.(type) {
	case *parse.PipeNode:
		if len(n.Cmds) == 1 {
			return eval(n.Cmds[0], funcs)
		}
	case *parse.CommandNode:
		if _, ok := n.Args[0].(*parse.IdentifierNode); ok {
			return call(n, funcs)
		}
	case *parse.StringNode:
		return reflect.ValueOf(n.Text), nil
	case *parse.NumberNode:
		return reflect.ValueOf(figure(n.Float64)), nil
	}
	return reflect.Value{}, fmt.Errorf("%s is no call, text or number", n)
}

func call(n *parse.CommandNode, funcs map[string]any) (reflect.Value, error) {
	f := reflect.ValueOf(funcs[n.Args[0].String()])
	if f.Type().NumIn() != len(n.Args)-1 {
		return f, fmt.Errorf("%s has %d arguments, want %d", n, len(n.Args)-1, f.Type().NumIn())
	}
	var args []reflect.Value
	for i, a := range n.Args[1:] {
		v, err := eval(a, funcs)
		if err != nil {
			return v, err
		}
		if !v.Type().AssignableTo(f.Type().In(i)) {
			return v, fmt.Errorf("%s is no %s", a, f.Type().In(i))
		}
		args = append(args, v)
	}
	out := f.Call(args)
	if len(out) == 2 && !out[1].IsNil() {
		return out[0], out[1].Interface().(error)
	}
	return out[0], nil
}

var (
	actions = pattern.New(`"[^"]*"|{{\w*|}}`) // quoted names, and the edges of actions
	numbers = pattern.New(`(?:^|[^\pL\d.,])(\d[\d.,]*\d|\d)`)
)

// foreign reports a number in the text of the sentence that stands neither in the names of
// its rows nor in what the paper says.
func (e *Exhibit) foreign(all []Reading) error {
	known := e.Says
	for _, x := range all {
		known = strings.Join([]string{known, x.Panel, x.Series, x.At}, " ")
	}
	has := map[string]bool{"0": true, "1": true} // limits of above
	for _, n := range numbers().FindAllStringSubmatch(strings.ReplaceAll(known, ",", " "), -1) {
		has[n[1]] = true
	}
	for _, n := range numbers().FindAllStringSubmatch(strings.ReplaceAll(e.Says, ",", ""), -1) {
		has[n[1]] = true
	}
	for _, n := range numbers().FindAllStringSubmatch(actions().ReplaceAllString(e.Found, " "), -1) {
		if !has[strings.ReplaceAll(n[1], ",", "")] {
			return fmt.Errorf("no row has the number %s", n[1])
		}
	}
	return nil
}

// matching returns the published readings that match the patterns of rows.
func matching(all []Reading, panel, series, place string) (some []Reading, err error) {
	backend, rest := "", panel
	if after, ok := strings.CutPrefix(panel, "@"); ok {
		backend, rest, _ = strings.Cut(after, " ")
	}
	err = fmt.Errorf("no row of %s", words(panel, series, place))
	for _, x := range all {
		if (backend == "" || x.Backend == backend) && match(rest, x.Panel) && match(series, x.Series) && match(place, x.At) {
			if !published(x.Row) {
				err = fmt.Errorf("no published figure of %s", words(panel, series, place))
				continue
			}
			some = append(some, x)
		}
	}
	if len(some) > 0 {
		err = nil
	}
	return some, err
}

// words joins the patterns that say something.
func words(patterns ...string) string {
	return strings.Join(slices.DeleteFunc(patterns, func(p string) bool { return p == "" }), ", ")
}

// match reports whether a pattern of rows matches a name. Brackets have no meaning in it.
func match(pattern, name string) bool {
	return pattern == "" || slices.ContainsFunc(strings.Split(pattern, "|"), func(p string) bool {
		ok, err := path.Match(strings.NewReplacer("[", `\[`, "/", "\x00").Replace(p), strings.ReplaceAll(name, "/", "\x00"))
		return err == nil && ok
	})
}

// over divides each reading of a by the one of b that agrees with it wherever b's differ from
// each other. Readings without one, because it is not published, are left out.
func over(a, b []Reading) (some []Reading, err error) {
	key := func(x Reading) (k [3]string) {
		for i, f := range []func(Reading) string{ByPanel, BySeries, byPlace} {
			if len(Distinct(b, f)) > 1 {
				k[i] = f(x)
			}
		}
		return k
	}
	divisors := make(map[[3]string]float64)
	for _, x := range b {
		divisors[key(x)] = x.Median
	}
	for _, x := range a {
		if d := divisors[key(x)]; d != 0 {
			x.Median /= d
			some = append(some, x)
		}
	}
	if len(some) == 0 {
		err = errors.New("no pairs of readings")
	}
	return some, err
}

// each returns the readings with the figures that f gives.
func each(a []Reading, f func(Reading) (float64, bool)) (some []Reading, err error) {
	for _, x := range a {
		if v, ok := f(x); ok {
			x.Median = v
			some = append(some, x)
		}
	}
	if len(some) == 0 {
		err = errors.New("no figures of the paper")
	}
	return some, err
}

func medians(a []Reading) (all []float64) {
	for _, x := range a {
		all = append(all, x.Median)
	}
	return all
}

func least(a []Reading) figure { return figure(slices.Min(medians(a))) }
func most(a []Reading) figure  { return figure(slices.Max(medians(a))) }

// to is the range of the medians.
func to(a []Reading) string {
	return strings.Join(slices.Compact([]string{least(a).String(), most(a).String()}), " to ")
}

func above(limit figure, a []Reading) []Reading {
	return slices.DeleteFunc(slices.Clone(a), func(x Reading) bool { return x.Median <= float64(limit) })
}

func highest(key string, a []Reading) ([]Reading, error) { return extreme(key, a, 1) }
func lowest(key string, a []Reading) ([]Reading, error)  { return extreme(key, a, -1) }

// extreme returns for each series or place the reading with the greatest figure times sign.
func extreme(key string, a []Reading, sign float64) (some []Reading, err error) {
	of := map[string]func(Reading) string{"series": BySeries, "places": byPlace}[key]
	if of == nil {
		return nil, fmt.Errorf("%q is not series or places", key)
	}
	top := make(map[string]Reading)
	for _, x := range a {
		if y, ok := top[of(x)]; !ok || sign*x.Median > sign*y.Median {
			top[of(x)] = x
		}
	}
	for _, k := range Distinct(a, of) {
		some = append(some, top[k])
	}
	return some, nil
}

// choices lists for each series its places, or the reverse, whichever are fewer.
func choices(a []Reading) string {
	from, to := BySeries, byPlace
	if len(Distinct(a, to)) < len(Distinct(a, from)) {
		from, to = to, from
	}
	var all []string
	for _, k := range Distinct(a, from) {
		all = append(all, k+" for "+list(Distinct(slices.DeleteFunc(slices.Clone(a), func(x Reading) bool { return from(x) != k }), to)))
	}
	return strings.Join(all, "; ")
}

// list joins names: "a, b and c".
func list(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	} else if n == 1 {
		return names[0]
	}
	return "none"
}
