package config

import (
	"fmt"
	"time"
)

// Config is the validated configuration. [Load] returns one; the zero value is not
// valid. Reading it is safe for concurrent use. Copies share data, so a Config must
// not change after it was copied.
type Config struct {
	Devices  Devices
	Memory   Memory
	Batching Batching
	Index    Index
	Search   Search
	Ranking  Ranking
	Bitmap   Bitmap
	Limits   Limits
	Schedule Schedule
	Server   Server
	Cluster  Cluster
	Log      Log

	origins map[string]Origin // by key name; a missing key has its default
}

// Devices chooses the processors of queries.
type Devices struct {
	Backend    string        // "auto", "host", "opencl" or "all"
	Device     string        // part of the name of an OpenCL device, case ignored; "" is the best one
	Threads    int           // threads of pure Go; 0: one for each core
	Profiling  bool          // measure kernel times with the clock of the device
	CountLoads bool          // count the bytes that kernels load and store
	Tuning     string        // TOML file of tuning rows that precede the built-in rows; "" is none
	Probe      time.Duration // without progress, after which a driver counts as hung; 0 does not examine drivers
}

// Memory limits the memory of opened indexes and tables.
type Memory struct {
	Device Size // lists, tables and scratch memory on each OpenCL device; 0 is the memory it reports
	Tables Size // auxiliary tables of pure Go; 0 is 16 bytes per posting, 64 MiB to 4 GiB
}

// Batching sets the sizes of batches.
type Batching struct {
	Candidates int // sum of the lengths of the shortest lists in a batch; 0 is the preference of the processor
	Postings   int // postings of a batch of ranked queries; 0 is the preference of the processor
	Queries    int // queries of a file that are read ahead
	Workers    int // batches prepared at the same time; 0 is one per core, 2 to 16
}

// Index holds the settings of index builds.
type Index struct {
	Codec          string  // "auto" or the name of a codec
	ExceptionRatio float64 // maximum fraction of exceptions in a segment, 0 to 0.6
	Dense          string  // "auto" or "never": bitsets for dense lists
	BuildMemory    Size    // memory limit of the builder; beyond it, it uses the disk
	Stem           string  // "none" or the name of a stemmer
	Stopwords      string  // "none", the name of a list, or a file with one word per line
	Cjk            string  // "bigrams" or "unigrams": terms of Chinese, Japanese and Korean
	Fold           bool    // fold words
	Lengths        string  // "exact" or "lucene"
	Store          string  // "none", "text" or "source": stored form of documents
	Positions      bool    // store positions, for phrases
	Impacts        int     // bits of impacts that replace frequencies, 8 or 16; 0 is none
}

// Search holds the settings of queries.
type Search struct {
	Mode      string // "or", "and" or "and-or"
	Algorithm string // "auto" or the name of an intersection algorithm
	// Accumulators is "auto", "ranges" or "global".
	Accumulators string
	K            int    // maximum of documents per query
	Format       string // "text", "tsv", "jsonl" or "trec"
}

// Ranking is the scoring function of ranked queries, BM25.
type Ranking struct {
	Variant string  // "lucene", "robertson", "atire" or "pisa"
	K1      float64 // 0 to 255
	B       float64 // 0 to 1
}

// Bitmap holds the settings of bitmap tables.
type Bitmap struct {
	Bins     int    // maximum per column, 1 to 10,000
	Binning  string // "auto", "distinct", "width", "quantile" or "lloyd"
	Encoding string // "equality", "range" or "interval"
	Word     int    // bits per word of the vectors, 32 or 64; 0 is automatic
	Strategy string // "auto" or the name of a strategy
}

// Limits bound the size of a query.
type Limits struct {
	Expansions int // terms that one prefix or tolerant word stands for
}

// Schedule holds the settings of the scheduler.
type Schedule struct {
	Policy    string        // see the key schedule.policy
	Timeout   time.Duration // timeout of a query; 0: none
	Queue     int           // maximum of waiting queries
	MaxAge    time.Duration // greatest age of the oldest query in a batch
	Blocks    int           // B of the threshold S*T*B of a batch; 0 is not used
	Enter     float64       // utilisation above which auto becomes sync
	Leave     float64       // utilisation below which auto becomes async
	Hold      time.Duration // minimum time between changes of the mode
	Hang      time.Duration // time after which a batch may count as hung
	Similar   float64       // ratio of run times from which a query waits for the faster class of processors
	Placement string        // "auto", "replicas", "shards" or "cache"
	Metric    string        // "best", "los", "uboc", "uboct" or "ding"
	Costs     string        // file of the cost model; "" is the file beside the index
	Results   Size          // size of the cache of answers; 0 is none
	Filters   Size          // size of the cache of filters
}

// Server holds the settings of heddle serve.
type Server struct {
	Listen   string // address of the service
	Admin    string // address of administration; "" is none
	Insecure bool   // serve addresses that are not loopback to unknown callers
	Hosts    string // names of the server in requests of unknown callers, separated by commas
	Origins  string // origins of web pages that may call the server, separated by commas
	Indexes  string // "NAME=FILE", separated by commas
	Tables   string // "NAME=FILE", separated by commas
	Synonyms string // "NAME=FILE" of indexes, separated by commas
	Dev      string // folder whose index and table files are served; "" is none

	Tokens   string // file of tokens; "" is none
	Cert     string // file of the certificate chain; "" is no TLS
	Key      string // file of the key of the certificate
	ClientCa string // file of the authority of clients; "" is none
	AdminCa  string // file of the authority of clients of administration; "" is none

	Root    string // folder whose files administration may load; "" is none
	Console bool   // serve the web console
	Watch   bool   // reload index and table files that are replaced

	Poll       time.Duration // between looks for replaced files; 0 is never
	Timeout    time.Duration // timeout of a query or batch
	Stall      time.Duration // for each part of a request, and of an answer that the client reads
	DrainDelay time.Duration // from the report of not being ready to the end of new connections

	SlowQuery time.Duration // from which a query is logged with its explanation; 0 is never
	AccessLog float64       // part of the requests in the log, 0 to 1
	Traces    string        // URL of the collector of traces; "" is none

	Memory Size // for requests and answers at the same time

	MaxBody        Size // greatest size of the body of a request
	MaxBatch       int  // queries of a batch
	MaxK           int  // documents of a ranked query
	MaxTerms       int  // words of a query
	MaxDocuments   int  // documents or rows of an answer
	MaxConcurrency int  // requests that run at the same time
	MaxConnections int  // open connections

	MaxAddressConnections int // connections of an address without an authorised request
	MaxUnauthenticated    int // requests without a token or certificate at the same time

	MaxCallerConcurrency int // requests of a caller that run at the same time; 0 is no limit
	MaxCallerRate        int // queries of a caller in a second; 0 is no limit
}

// Cluster holds the settings by which heddle serve joins a cluster.
type Cluster struct {
	Servers string // URLs of NATS servers, separated by commas, or a file; "" is no cluster
	Node    string // name of this node; "" is a server that answers from the nodes
	Data    string // folder of the files of the node
	Url     string // base URL at which other machines reach the node; "" is the address it listens on

	Nkey        string // file of the seed of a user of NATS; "" is none
	Credentials string // file of the credentials of a user of NATS; "" is none
	Ca          string // file of the authority of NATS servers and nodes; "" is the system's
	Cert        string // file of the certificate for NATS servers and nodes; "" is none
	Key         string // file of the key of this certificate
	Token       string // file of the token for nodes; "" is none
	Trusted     string // hosts and networks whose nodes may do without certificates of Ca; "" is none

	Verify          time.Duration // time between two checks of all files of a node; 0 is never
	ControlReplicas int           // number of control nodes that keep the map: 1, 3, 5; 0 takes every map
}

// Log holds the settings of messages on standard error.
type Log struct {
	Level  string // "trace", "debug", "info", "warn", "error" or "disabled"
	Format string // "console" or "json"
}

// Flag is a value that the command line gives to a key.
type Flag struct {
	Name  string // name of the flag, without dashes
	Key   string // full name of the key that it sets
	Value string
}

// Sources are the sources of [Load], in rising precedence. The zero value gives the
// defaults.
type Sources struct {
	File    string   // path of a TOML file, "" for none
	Environ []string // NAME=value, the form of os.Environ
	Flags   []Flag   // flags that were given
}

// Default returns the configuration with all defaults.
func Default() *Config {
	c := &Config{origins: map[string]Origin{}}
	for _, k := range keys {
		k.reset(c)
	}
	return c
}

// Load reads all sources. The error is an [*Error], or the error of os.Open if the file
// cannot be read.
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

// agree checks values against each other. The error has the position of the value that
// was set last.
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

// Origin returns the source of the value of a key.
func (c *Config) Origin(key string) Origin { return c.origins[key] }

// setText sets a key to the value of an environment variable or a flag.
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
