package config

import (
	"fmt"
	"slices"
	"strings"
)

// prefix begins every environment variable of heddle.
const prefix = "HEDDLE_"

// FileVariable names the TOML file when no flag does.
const FileVariable = prefix + "CONFIG"

// reserved are the variables with our prefix that are no keys.
var reserved = []string{FileVariable, prefix + "TEST_", prefix + "OPENCL_"}

// readEnviron takes the keys that the environment sets. An empty variable counts
// as not set.
func (c *Config) readEnviron(environ []string) error {
	vars := slices.Sorted(slices.Values(environ)) // the first error is always the same one
	for _, kv := range vars {
		name, text, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, prefix) || text == "" || isReserved(name) {
			continue
		}
		at := Origin{Kind: FromEnvironment, Name: name}
		i := slices.IndexFunc(keys, func(k Key) bool { return k.Variable() == name })
		if i >= 0 {
			if err := c.setText(keys[i].Name, text, at); err != nil {
				return err
			}
			continue
		}
		if near, ok := resembles(name); ok {
			return &Error{Origin: at, Reason: fmt.Sprintf("no key has this variable (nearest: %s)", near)}
		}
	}
	return nil
}

func isReserved(name string) bool {
	return slices.ContainsFunc(reserved, func(r string) bool {
		return name == r || strings.HasSuffix(r, "_") && strings.HasPrefix(name, r)
	})
}

// resembles tells a misspelt key from a variable that somebody else has set
// with our prefix, as a container platform does for a service of our name
// (HEDDLE_SERVICE_HOST, HEDDLE_PORT): a section's name, or two typing errors.
func resembles(name string) (nearestVariable string, ok bool) {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Variable()
		ok = ok || strings.HasPrefix(name, prefix+strings.ToUpper(k.Section())+"_")
	}
	near := Nearest(name, names)
	return near, ok || distance(name, near) <= 2
}
