package config

import (
	"fmt"
	"time"
)

// Config is the validated configuration. [Load] makes one; the zero value is not
// valid. It is plain data: copying it is fine as long as nobody writes to it,
// and reading it from several goroutines is safe.
type Config struct {
	Devices  Devices
	Memory   Memory
	Batching Batching
	Index    Index
	Search   Search
	Ranking  Ranking
	Bitmap   Bitmap
	Schedule Schedule
	Log      Log

	origins map[string]Origin // by key name; a key that is missing has its default
}

// Devices says where lists live and queries run.
type Devices struct {
	Backend   string // "auto", "host", "opencl" or "all"
	Device    string // part of an OpenCL device's name, any case; "" takes the best
	Threads   int    // of the host backend; 0 is one a core
	Profiling bool   // ask the device's own clock for kernel times
	Tuning    string // TOML file of tuning rows that go before the built-in ones; "" is none
}

// Memory limits what an opened index may occupy.
type Memory struct {
	Device Size // lists, tables and scratch on an OpenCL device; 0 is what it reports
	Tables Size // auxiliary tables of the host backend; 0 is 16 bytes a posting, 64 MiB to 4 GiB
}

// Batching says how queries are gathered.
type Batching struct {
	Candidates int // elements of the shortest lists in a batch; 0 is the engine's choice
	Postings   int // postings of a batch of ranked queries; 0 is the engine's choice
	Queries    int // queries of a file read before they are answered
	Workers    int // batches prepared at the same time; 0 is the engine's choice
}

// Index holds the settings of index files that are built.
type Index struct {
	Codec          string  // "auto" or the name of a codec
	ExceptionRatio float64 // greatest share of exceptions in a segment, 0 to 0.6
	Dense          string  // "auto" or "never": bitsets for dense lists
	BuildMemory    Size    // of the builder, before it spills to disk
	Stem           string  // "none" or "english"
	Stopwords      string  // "none" or a file with one word a line
	Store          string  // "none" or "text": what the index keeps of the documents
	Impacts        int     // bits of impacts in place of frequencies, 8 or 16; 0 is none
}

// Search holds the settings of queries.
type Search struct {
	Mode      string // "and", "or" or "and-or"
	Algorithm string // "auto" or the name of an intersection algorithm
	K         int    // documents a query, at most
	Format    string // "text", "tsv", "jsonl" or "trec"
}

// Ranking is the scoring function of ranked queries, BM25.
type Ranking struct {
	Variant string  // "lucene", "robertson", "atire" or "pisa"
	K1      float64 // 0 to 255
	B       float64 // 0 to 1
}

// Bitmap holds the settings of bitmap tables.
type Bitmap struct {
	Bins     int    // of a column, at most, 1 to 10,000
	Binning  string // "auto", "distinct", "width", "quantile" or "lloyd"
	Encoding string // "equality", "range" or "interval"
	Word     int    // bits of a word of the vectors, 32 or 64; 0 is whichever suits
	Strategy string // "auto" or the name of a strategy
}

// Schedule says how an engine shares queries out among processors.
type Schedule struct {
	Mode      string        // "auto", "async" or "sync"
	Timeout   time.Duration // of a query; 0 is none
	Queue     int           // queries that wait, at most
	MaxAge    time.Duration // of the oldest query of a batch when it is closed
	Blocks    int           // B of the threshold S*T*B of a batch; 0 is what the processor likes best
	Enter     float64       // load above which auto becomes sync
	Leave     float64       // load below which it becomes async
	Hold      time.Duration // for which a mode stays, at least
	Similar   float64       // how much faster one side must be for a query to belong to it
	Placement string        // "auto", "replicas", "shards" or "cache"
	Metric    string        // "best", "los", "uboc", "uboct" or "ding"
	Costs     string        // file of the cost model; "" is beside the index
	Results   Size          // of the cache of answers; 0 is none
}

// Log says what goes to standard error, and how.
type Log struct {
	Level  string // "trace", "debug", "info", "warn", "error" or "disabled"
	Format string // "console" or "json"
}

// Flag is a value that the command line gives to a key.
type Flag struct {
	Name  string // of the flag, without dashes
	Key   string // full name of the key that it sets
	Value string
}

// Sources are what [Load] reads, weakest first. The zero value gives the
// defaults.
type Sources struct {
	File    string   // path of a TOML file, "" for none
	Environ []string // NAME=value, as os.Environ gives it
	Flags   []Flag   // only those that were given
}

// Default returns the configuration that stands when nothing is set.
func Default() *Config {
	c := &Config{origins: map[string]Origin{}}
	for _, k := range keys {
		k.reset(c)
	}
	return c
}

// Load reads every source and returns the configuration they add up to. The
// error is an [*Error], or one of os.Open when the file cannot be read.
func Load(src Sources) (*Config, error) {
	c := Default()
	if src.File != "" {
		if err := c.readFile(src.File); err != nil {
			return nil, err
		}
	}
	if err := c.readEnviron(src.Environ); err != nil {
		return nil, err
	}
	for _, f := range src.Flags {
		at := Origin{Kind: FromFlag, Name: f.Name}
		if err := c.setText(f.Key, f.Value, at); err != nil {
			return nil, err
		}
	}
	if err := c.agree(); err != nil {
		return nil, err
	}
	return c, nil
}

// agree reports values that are right by themselves, but not together. The error stands
// at the one that was set last.
func (c *Config) agree() error {
	if c.Schedule.Leave <= c.Schedule.Enter {
		return nil
	}
	at := c.origins["schedule.leave"]
	if enter := c.origins["schedule.enter"]; enter.Kind > at.Kind {
		at = enter
	}
	return &Error{Origin: at, Reason: fmt.Sprintf("schedule.leave, %v, is above schedule.enter, %v", c.Schedule.Leave, c.Schedule.Enter)}
}

// Origin says where the value of a key came from.
func (c *Config) Origin(key string) Origin { return c.origins[key] }

// setText gives key a value from an environment variable or a flag.
func (c *Config) setText(key, text string, at Origin) error {
	k, ok := Lookup(key)
	if !ok {
		return &Error{Origin: at, Reason: unknownKey(key)}
	}
	if err := k.setText(c, text); err != nil {
		return &Error{Origin: at, Reason: err.Error()}
	}
	c.origins[key] = at
	return nil
}
