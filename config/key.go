package config

import (
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Key is one setting.
type Key struct {
	Name   string   // "section.key"
	Doc    string   // plain text; the first line is a summary
	Values []string // values of an enumeration; nil for other keys

	reset   func(*Config)
	get     func(*Config) any
	setTOML func(*Config, any) error // sets a value of the TOML library
	setText func(*Config, string) error
}

// Get returns the key's value in c: a string, bool, int, float64, Size or
// time.Duration.
func (k Key) Get(c *Config) any { return k.get(c) }

// Default returns the default of the key as text.
func (k Key) Default() string { return fmt.Sprint(k.Get(Default())) }

// Summary returns the first line of Doc.
func (k Key) Summary() string {
	line, _, _ := strings.Cut(k.Doc, "\n")
	return line
}

// Section returns the part of the name before the dot.
func (k Key) Section() string {
	section, _, _ := strings.Cut(k.Name, ".")
	return section
}

// Variable returns the environment variable that sets the key.
func (k Key) Variable() string {
	return prefix + strings.ToUpper(strings.ReplaceAll(k.Name, ".", "_"))
}

// Keys returns all keys, by section. The caller owns the slice.
func Keys() []Key { return slices.Clone(keys) }

// Lookup finds a key by its full name.
func Lookup(name string) (Key, bool) {
	i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		return Key{}, false
	}
	return keys[i], true
}

// value lists the types of settings.
type value interface {
	string | bool | int | float64 | Size | time.Duration
}

// key creates a row of the table for a field of the Config. A nil check accepts all
// values.
func key[T value](name string, field func(*Config) *T, def T, check func(T) error, doc string) Key {
	set := func(c *Config, v T, err error) error {
		if err == nil && check != nil {
			err = check(v)
		}
		if err == nil {
			*field(c) = v
		}
		return err
	}
	return Key{
		Name:  name,
		Doc:   doc,
		reset: func(c *Config) { *field(c) = def },
		get:   func(c *Config) any { return *field(c) },
		setTOML: func(c *Config, v any) error {
			t, err := fromTOML[T](v)
			return set(c, t, err)
		},
		setText: func(c *Config, s string) error {
			t, err := fromText[T](s)
			return set(c, t, err)
		},
	}
}

// enum creates a row whose value is one of a few words.
func enum(name string, field func(*Config) *string, def string, values []string, doc string) Key {
	k := key(name, field, def, func(s string) error {
		if slices.Contains(values, s) {
			return nil
		}
		return NotOneOf(s, values)
	}, doc)
	k.Values = values
	return k
}

// within checks that a number is in [lo, hi], and rejects NaN.
func within[T int | float64 | Size | time.Duration](lo, hi T) func(T) error {
	return func(v T) error {
		if v >= lo && v <= hi {
			return nil
		}
		return fmt.Errorf("%v is not from %v to %v", v, lo, hi)
	}
}

// text checks a name or a path.
func text(s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%q is not valid UTF-8", s)
	}
	return nil
}

// networks checks a list of hosts and networks.
func networks(list string) error {
	if list == "" {
		return nil
	}
	for _, item := range strings.Split(list, ",") {
		if _, _, err := net.ParseCIDR(item); err == nil || net.ParseIP(item) != nil {
			continue
		}
		if item == "" || strings.ContainsAny(item, " /:@?#[]\t") {
			return fmt.Errorf("%q is no host and no network: want names, addresses or 10.0.0.0/24, separated by commas", item)
		}
	}
	return nil
}

func fromTOML[T value](v any) (t T, err error) {
	ok := false
	switch p := any(&t).(type) {
	case *string:
		*p, ok = v.(string)
	case *bool:
		*p, ok = v.(bool)
	case *int:
		var n int64
		n, ok = v.(int64)
		*p = int(min(max(n, math.MinInt), math.MaxInt))
	case *float64:
		if *p, ok = v.(float64); !ok {
			var n int64
			n, ok = v.(int64)
			*p = float64(n)
		}
	case *Size:
		switch v := v.(type) {
		case string:
			*p, err = ParseSize(v)
			return t, err
		case int64:
			if v < 0 {
				return t, fmt.Errorf("size %d is negative", v)
			}
			*p, err = ParseSize(strconv.FormatInt(v, 10))
			return t, err
		}
	case *time.Duration:
		if v, isText := v.(string); isText {
			return fromText[T](v)
		}
	}
	if !ok {
		err = fmt.Errorf("want %s, found %s", kindName(t), tomlName(v))
	}
	return t, err
}

func fromText[T value](s string) (t T, err error) {
	switch p := any(&t).(type) {
	case *string:
		*p = s
	case *bool:
		*p, err = strconv.ParseBool(s)
	case *int:
		*p, err = strconv.Atoi(s)
	case *float64:
		*p, err = strconv.ParseFloat(s, 64)
	case *Size:
		*p, err = ParseSize(s)
		return t, err
	case *time.Duration:
		*p, err = time.ParseDuration(s)
	}
	if errors.Is(err, strconv.ErrRange) {
		err = fmt.Errorf("%s is out of range", s)
	} else if err != nil {
		err = fmt.Errorf("want %s, found %q", kindName(t), s)
	}
	return t, err
}

// kindName names the type of a setting in errors.
func kindName(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case bool:
		return "true or false"
	case int:
		return "a whole number"
	case float64:
		return "a number"
	case time.Duration:
		return `a duration (like "500ms" or "1m30s")`
	}
	return `a size (like 1048576, "512MiB" or "2GB")`
}

// tomlName names the type of a value of the file in errors.
func tomlName(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("the string %q", v)
	case bool, int64, float64:
		return fmt.Sprint(v)
	case map[string]any:
		return "a table"
	case []any, []map[string]any:
		return "an array"
	}
	return "a date or time"
}
