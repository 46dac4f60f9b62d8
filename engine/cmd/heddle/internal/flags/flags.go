// Package flags has values of flags and explains wrong ones.
package flags

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/config"
	"heddle/engine/cmd/heddle/internal/help"
)

// oneOf is the value of a flag that takes one of some names, in any case.
type oneOf struct {
	to    *string
	names []string
}

func (v oneOf) String() string { return *v.to }

func (v oneOf) Type() string { return "NAME" }

// Values returns the names, for completion.
func (v oneOf) Values() []string { return v.names }

func (v oneOf) Set(s string) error {
	for _, name := range v.names {
		if strings.EqualFold(s, name) {
			*v.to = name
			return nil
		}
	}
	return config.NotOneOf(s, v.names)
}

// AddChoice adds a flag that takes one of some names. The names end the description in the help text.
func AddChoice[T ~string](fs *pflag.FlagSet, to *string, name string, def T, usage string, names []T) {
	*to = string(def)
	v := oneOf{to: to}
	for _, n := range names {
		v.names = append(v.names, string(n))
	}
	fs.Var(v, name, usage+help.List(v.names))
}

// Explain describes a wrong flag: for an unknown one the nearest, for a wrong value the possible ones.
func Explain(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var wrong *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		err = fmt.Errorf("unknown flag: --%s%s", unknown.GetSpecifiedName(), config.Hint("--%s", unknown.GetSpecifiedName(), names))
	case errors.As(err, &wrong):
		cause := errors.Unwrap(wrong)
		if outOfRange(wrong.GetFlag().Value.Type(), wrong.GetValue()) {
			cause = fmt.Errorf("%s is out of range", wrong.GetValue())
		} else if wants := wants[wrong.GetFlag().Value.Type()]; wants != "" {
			cause = fmt.Errorf("%q is not %s", wrong.GetValue(), wants)
		}
		err = fmt.Errorf("flag --%s: %w", wrong.GetFlag().Name, cause)
	}
	return err
}

// outOfRange reports whether a value that a flag of a type has refused is a number of this kind.
func outOfRange(kind, value string) bool {
	err := strconv.ErrSyntax
	switch strings.TrimRight(kind, "3264") {
	case "int":
		_, err = strconv.ParseInt(value, 0, 64)
	case "uint":
		_, err = strconv.ParseUint(value, 0, 64)
	case "float":
		_, err = strconv.ParseFloat(value, 64)
	}
	return !errors.Is(err, strconv.ErrSyntax)
}

// wants describes the values of the types of flags.
var wants = map[string]string{
	"bool": "true or false",
	"int":  "an integer", "int32": "an integer", "int64": "an integer",
	"uint": "a positive integer or 0", "uint32": "a positive integer or 0", "uint64": "a positive integer or 0",
	"float64":  "a number",
	"duration": `a duration (like "500ms" or "2s")`,
}
