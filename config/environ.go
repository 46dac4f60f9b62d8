package config

import (
	"slices"
	"strings"
)

// prefix begins every environment variable of heddle.
const prefix = "HEDDLE_"

// FileVariable is the variable with the path of the TOML file. A flag overrides it.
const FileVariable = prefix + "CONFIG"

// reserved lists variables with the prefix that are not keys. An entry that ends in _
// stands for all variables that start with it. Kubernetes sets the last three kinds for a
// service with the name heddle-server.
var reserved = []string{FileVariable, prefix + "CACHE", prefix + "TEST_", prefix + "OPENCL_", prefix + "SERVER_SERVICE_", prefix + "SERVER_PORT", prefix + "SERVER_PORT_"}

// readEnviron reads the keys that the environment sets. It ignores empty variables.
func (c *Config) readEnviron(environ []string) error {
	vars := slices.Sorted(slices.Values(environ)) // makes the first error deterministic
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
		if hint, ok := resembles(name); ok {
			return &Error{Origin: at, Reason: "unknown variable" + hint}
		}
	}
	return nil
}

func isReserved(name string) bool {
	return slices.ContainsFunc(reserved, func(r string) bool {
		return name == r || strings.HasSuffix(r, "_") && strings.HasPrefix(name, r)
	})
}

// resembles reports whether an unknown variable is a misspelt key: it starts with the
// name of a section, or differs from a key in at most two letters. Other variables
// come from elsewhere: a container platform sets HEDDLE_SERVICE_HOST and HEDDLE_PORT
// for a service with the name heddle.
func resembles(name string) (hint string, ok bool) {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Variable()
		ok = ok || strings.HasPrefix(name, prefix+strings.ToUpper(k.Section())+"_")
	}
	near := Nearest(name, names)
	return Hint("%s", name, names), ok || near != "" && distance(name, near) <= 2
}
