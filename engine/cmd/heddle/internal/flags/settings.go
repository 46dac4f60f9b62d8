package flags

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"heddle/config"
	"heddle/engine/cmd/heddle/internal/help"
)

// Settings are the flags of a command that set keys of the configuration, and --config.
type Settings struct {
	file  string
	flags []*keyFlag
}

// keyFlag is a flag that sets a key. Package config checks the value.
type keyFlag struct {
	name, arg string
	key       config.Key
	text      string
	given     bool
}

func (f *keyFlag) String() string { return f.text }
func (f *keyFlag) Type() string   { return f.arg }

// Values returns the names that the flag takes, for completion; nil for other values.
func (f *keyFlag) Values() []string { return f.key.Values }

func (f *keyFlag) Set(s string) error {
	f.text, f.given = s, true
	return nil
}

// keyFlags lists all flags that set keys. Field arg names the argument in help texts if
// the key is not an enumeration.
var keyFlags = []struct{ name, short, key, arg string }{
	{"backend", "", "devices.backend", ""},
	{"device", "", "devices.device", "SUBSTRING"},
	{"threads", "", "devices.threads", "N"},
	{"profiling", "", "devices.profiling", "bool"},
	{"tuning", "", "devices.tuning", "FILE"},
	{"codec", "", "index.codec", "NAME"},
	{"exception-ratio", "", "index.exception_ratio", "RATIO"},
	{"dense", "", "index.dense", ""},
	{"build-memory", "", "index.build_memory", "SIZE"},
	{"stem", "", "index.stem", ""},
	{"stopwords", "", "index.stopwords", "NAME|FILE"},
	{"cjk", "", "index.cjk", ""},
	{"fold", "", "index.fold", "bool"},
	{"lengths", "", "index.lengths", ""},
	{"store", "", "index.store", ""},
	{"positions", "", "index.positions", "bool"},
	{"impacts", "", "index.impacts", "BITS"},
	{"variant", "", "ranking.variant", ""},
	{"k1", "", "ranking.k1", "K1"},
	{"b", "", "ranking.b", "B"},
	{"mode", "", "search.mode", ""},
	{"algorithm", "", "search.algorithm", "NAME"},
	{"accumulators", "", "search.accumulators", ""},
	{"k", "k", "search.k", "N"},
	{"format", "", "search.format", ""},
	{"expansions", "", "limits.expansions", "N"},
	{"policy", "", "schedule.policy", ""},
	{"metric", "", "schedule.metric", ""},
	{"bins", "", "bitmap.bins", "N"},
	{"binning", "", "bitmap.binning", ""},
	{"encoding", "", "bitmap.encoding", ""},
	{"word", "", "bitmap.word", "BITS"},
	{"strategy", "", "bitmap.strategy", ""},
	{"listen", "", "server.listen", "ADDRESS"},
	{"admin", "", "server.admin", "ADDRESS"},
	{"insecure", "", "server.insecure", "bool"},
	{"tokens", "", "server.tokens", "FILE"},
	{"cert", "", "server.cert", "FILE"},
	{"key", "", "server.key", "FILE"},
	{"client-ca", "", "server.client_ca", "FILE"},
	{"admin-ca", "", "server.admin_ca", "FILE"},
	{"dev", "", "server.dev", "DIR"},
	{"root", "", "server.root", "DIR"},
	{"hosts", "", "server.hosts", "NAMES"},
	{"origins", "", "server.origins", "ORIGINS"},
	{"memory", "", "server.memory", "SIZE"},
	{"console", "", "server.console", "bool"},
	{"watch", "", "server.watch", "bool"},
	{"timeout", "", "server.timeout", "DURATION"},
	{"drain-delay", "", "server.drain_delay", "DURATION"},
	{"cluster", "", "cluster.servers", "URL,…|FILE"},
	{"node", "", "cluster.node", "NAME"},
	{"data", "", "cluster.data", "DIR"},
	{"cluster-nkey", "", "cluster.nkey", "FILE"},
	{"cluster-credentials", "", "cluster.credentials", "FILE"},
	{"cluster-ca", "", "cluster.ca", "FILE"},
	{"cluster-cert", "", "cluster.cert", "FILE"},
	{"cluster-key", "", "cluster.key", "FILE"},
	{"cluster-token", "", "cluster.token", "FILE"},
	{"control-replicas", "", "cluster.control_replicas", "N"},
	{"log-level", "", "log.level", ""},
}

// Add adds the named flags, --log-level and --config to a command.
func (s *Settings) Add(fs *pflag.FlagSet, names ...string) {
	for _, name := range append(names, "log-level") {
		for _, k := range keyFlags {
			if k.name == name {
				s.addKey(fs, k.name, k.short, k.key, k.arg)
			}
		}
	}
	fs.StringVar(&s.file, "config", "", "configuration `FILE` (TOML); default: the variable "+config.FileVariable)
}

func (s *Settings) addKey(fs *pflag.FlagSet, name, short, key, arg string) {
	k, ok := config.Lookup(key)
	if !ok {
		panic("flag --" + name + " sets the unknown key " + key)
	}
	f := &keyFlag{name: name, arg: cmp.Or(arg, "NAME"), key: k, text: k.Default()}
	s.flags = append(s.flags, f)
	usage := lowerFirst(strings.TrimSuffix(k.Summary(), "."))
	switch {
	case len(k.Values) > manyValues:
		usage += " (heddle help " + name + "s)"
	case len(k.Values) > 0:
		usage += ": " + help.List(k.Values)
	}
	flag := fs.VarPF(f, name, short, usage)
	if arg == "bool" {
		flag.NoOptDefVal = "true"
	}
}

// manyValues is the number of values from which a topic of help lists them, and not the flag.
const manyValues = 8

// lowerFirst begins a sentence with a small letter, unless its first word is an abbreviation.
func lowerFirst(s string) string {
	if unicode.IsUpper(rune(s[1])) {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// Sources returns the sources of the configuration, whose file is another one without --config.
func (s *Settings) Sources(environ []string, file string) config.Sources {
	src := config.Sources{File: cmp.Or(s.file, file), Environ: environ}
	for _, f := range s.flags {
		if f.given {
			src.Flags = append(src.Flags, config.Flag{Name: f.name, Key: f.key.Name, Value: f.text})
		}
	}
	return src
}

// Keys returns the names of all flags that set keys.
func Keys() (names []string) {
	for _, k := range keyFlags {
		names = append(names, k.name)
	}
	return names
}
