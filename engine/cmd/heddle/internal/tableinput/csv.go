package tableinput

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"heddle/engine/cmd/heddle/internal/flags"
	"heddle/engine/file/input"
	"heddle/engine/table/column"
	"heddle/engine/table/read/csv"
)

// CSV are the flags for CSV.
type CSV struct {
	names, null, types []string
	header             string
	delimiter          string
	quote, escape      string
	comment            string
	skipLines          int
	ragged             string
	decimal, thousands string
	Encoding           string // encoding of texts, by the flag of Share
	own                *pflag.FlagSet
}

var (
	headers = map[string]csv.Header{"auto": csv.AutoHeader, "yes": csv.WithHeader, "no": csv.NoHeader}
	ragged  = map[string]csv.Ragged{"fail": csv.Fail, "pad": csv.Pad, "skip": csv.Skip}
)

// Add adds the flags.
func (o *CSV) Add(all *pflag.FlagSet) {
	fs := pflag.NewFlagSet("csv", pflag.ContinueOnError)
	fs.SortFlags = false
	fs.StringSliceVar(&o.names, "names", nil, "column names of CSV, `LIST`")
	flags.AddChoice(fs, &o.header, "header", "auto", "the first line of CSV has names: ", []string{"auto", "yes", "no"})
	fs.StringArrayVar(&o.types, "type", nil, "`NAME=TYPE` of a CSV column; may be repeated")
	fs.StringArrayVar(&o.null, "null", nil, "`TEXT` of missing values in CSV; may be repeated")
	fs.StringVar(&o.delimiter, "delimiter", "auto", "field separator of CSV, `CHARACTER` or tab")
	fs.StringVar(&o.quote, "quote", `"`, "quote of CSV, `CHARACTER` or none")
	fs.StringVar(&o.escape, "escape", "", "`CHARACTER` before a plain quote or delimiter of CSV")
	fs.StringVar(&o.comment, "comment", "", "`CHARACTER` that begins lines of CSV to leave out")
	fs.IntVar(&o.skipLines, "skip-lines", 0, "leave out `N` lines at the start of CSV files")
	flags.AddChoice(fs, &o.ragged, "ragged", "fail", "records of CSV with a wrong number of fields: ", []string{"fail", "pad", "skip"})
	fs.StringVar(&o.decimal, "decimal", ".", "decimal sign of numbers in CSV, `CHARACTER`")
	fs.StringVar(&o.thousands, "thousands", "", "`CHARACTER` between groups of three digits in CSV")
	o.own = fs
	all.AddFlagSet(fs)
}

// Share lets the flag of the encoding of vectors take the names of encodings of text, too.
func (o *CSV) Share(vectors *pflag.Flag) {
	vectors.Value = &encodings{vectors.Value, &o.Encoding}
	vectors.Usage += ", or encoding of the text of CSV: " + strings.Join(input.Encodings(), "|")
}

// encodings is a flag for encodings of vectors and of text.
type encodings struct {
	pflag.Value // value of a flag of vectors
	text        *string
}

// Set implements pflag.Value.
func (e *encodings) Set(name string) error {
	if i := slices.IndexFunc(input.Encodings(), func(of string) bool { return strings.EqualFold(of, name) }); i >= 0 {
		*e.text = input.Encodings()[i]
		return nil
	}
	return e.Value.Set(name)
}

// Names are the names of the flags.
func (o *CSV) Names() (names []string) {
	o.own.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// dialect converts the flags of single characters.
func (o *CSV) dialect() (d csv.Dialect, err error) {
	d.SkipLines, d.Encoding = o.skipLines, o.Encoding
	for _, x := range []struct {
		flag, value, none string // value that stands for no character
		to                *byte
	}{
		{"delimiter", o.delimiter, "auto", &d.Delimiter}, {"quote", o.quote, "none", &d.Quote}, {"escape", o.escape, "", &d.Escape},
		{"comment", o.comment, "", &d.Comment}, {"decimal", o.decimal, "", &d.Decimal}, {"thousands", o.thousands, "", &d.Thousands},
	} {
		switch {
		case x.value == x.none:
		case x.value == "tab":
			*x.to = '\t'
		case len(x.value) == 1 && x.value[0] < 0x80 && !strings.ContainsAny(x.value, "\r\n\x00"):
			*x.to = x.value[0]
		default:
			return d, fmt.Errorf("--%s %q is not tab or one ASCII character (line ends are not allowed)", x.flag, x.value)
		}
	}
	d.NoQuote = o.quote == "none"
	return d, d.Validate()
}

// Validate checks the flags of single characters.
func (o *CSV) Validate() error {
	_, err := o.dialect()
	return err
}

// Options converts the flags. The names of the inputs may give the delimiter.
func (o *CSV) Options(inputs []string) (opt csv.Options, err error) {
	opt = csv.Options{Names: o.names, Header: headers[o.header], Null: o.null, Ragged: ragged[o.ragged], Types: map[string]column.Declared{}}
	if opt.Dialect, err = o.dialect(); err != nil {
		return opt, err
	}
	if tabs := slices.IndexFunc(inputs, isTSV); tabs >= 0 && o.delimiter == "auto" {
		if other := slices.IndexFunc(inputs, func(path string) bool { return !isTSV(path) }); other >= 0 {
			return opt, fmt.Errorf("%s has fields between tabs, and %s has another name: choose one --delimiter", inputs[tabs], inputs[other])
		}
		opt.Delimiter = '\t'
	}
	for _, text := range o.types {
		i := strings.LastIndexByte(text, '=')
		if i < 1 {
			return opt, fmt.Errorf("--type %q is not NAME=TYPE", text)
		}
		if opt.Types[text[:i]], err = column.ParseDeclared(text[i+1:]); err != nil {
			return opt, fmt.Errorf("--type %q: %w", text, err)
		}
	}
	return opt, nil
}
