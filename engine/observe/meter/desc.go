package meter

// Kind says what a metric is.
type Kind uint8

const (
	KindCounter   Kind = iota // a sum that only grows
	KindGauge                 // a value that goes up and down
	KindHistogram             // how many values lie between bounds
)

// Desc describes a metric.
type Desc struct {
	Name   string // ends with its unit, and of counters with "_total"
	Help   string
	Kind   Kind
	Labels []string
	Bounds []float64 // of a histogram: the greatest value of each bucket, ascending
}

// Descs returns all metrics. They must not be changed.
func Descs() []*Desc {
	return []*Desc{
		queries, cached, retries, changes, outs, took, queued, ran, misjudged, batch,
		synchronous, load, waiting, room, jobs, stolen, up, running, batches, done, busy, resident,
		listRoom, listUsed, lists, listHits, listMisses, listEvicted, listBytes,
		resultRoom, resultUsed, results, resultHits, resultMisses, resultEvicted, resultRefused,
	}
}

// What a Meter feeds.
var (
	queries = counter("queries_total", "Queries by what became of them.", "kind", "mode", "class", "processor", "outcome")
	cached  = counter("cached_queries_total", "Queries answered from the result cache.", "kind")
	retries = counter("retries_total", "Attempts at queries after their first, by the processor of the last.", "processor")
	changes = counter("mode_changes_total", "Changes of the scheduler's mode, by the mode changed to.", "mode")
	outs    = counter("processors_out_total", "Processors taken out.", "processor")

	took      = histogram("query_duration_seconds", "Time from a query's arrival to its answer or failure.", times, "kind", "mode", "outcome")
	queued    = histogram("queue_duration_seconds", "Time from a query's arrival to the start of its last attempt.", times, "kind", "mode", "processor")
	ran       = histogram("run_duration_seconds", "Time of the batch that answered a query, once a query.", times, "kind", "mode", "processor")
	misjudged = histogram("prediction_error_ratio", "Difference between the estimated and the actual time of the batch that answered a query, as a part of the actual time.", exponential(1./128, 2, 12), "kind", "mode", "processor")
	batch     = histogram("batch_jobs", "Jobs of the batch that answered a query, once a query.", exponential(1, 2, 17), "kind", "mode", "processor")
)

// What a State says.
var (
	synchronous = gauge("scheduler_synchronous", "1 while queries run in batches, 0 while each runs alone.")
	load        = gauge("scheduler_load_ratio", "Time that arriving queries should take alone, as a part of the time that all processors have.")
	waiting     = gauge("queued_jobs", "Jobs that wait.", "class")
	room        = gauge("queue_capacity_jobs", "Jobs that may wait.")
	jobs        = counter("jobs_total", "Jobs of the scheduler by what became of them.", "outcome")
	stolen      = counter("stolen_jobs_total", "Jobs that ran on a processor of another class.")

	up       = gauge("processor_up", "0 where the processor was taken out.", "processor")
	running  = gauge("processor_running_batches", "Batches that run.", "processor")
	batches  = counter("processor_batches_total", "Batches run.", "processor")
	done     = counter("processor_jobs_total", "Jobs run.", "processor")
	busy     = counter("processor_busy_seconds_total", "Time of all lanes with a batch.", "processor")
	resident = gauge("resident_bytes", "Memory of the processor that lists and tables take.", "processor")

	listRoom    = gauge("list_cache_capacity_bytes", "Memory for lists.", "processor")
	listUsed    = gauge("list_cache_used_bytes", "Memory that lists take.", "processor")
	lists       = gauge("list_cache_lists", "Lists that are resident.", "processor")
	listHits    = counter("list_cache_hits_total", "Lists of queries that were resident.", "processor")
	listMisses  = counter("list_cache_misses_total", "Lists of queries that were not resident.", "processor")
	listEvicted = counter("list_cache_evictions_total", "Lists that had to leave.", "processor")
	listBytes   = counter("list_cache_loaded_bytes_total", "Bytes of lists brought in.", "processor")

	resultRoom    = gauge("result_cache_capacity_bytes", "Memory for answers.")
	resultUsed    = gauge("result_cache_used_bytes", "Memory that answers take.")
	results       = gauge("result_cache_answers", "Answers kept.")
	resultHits    = counter("result_cache_hits_total", "Queries whose answer was kept.")
	resultMisses  = counter("result_cache_misses_total", "Queries whose answer was not kept.")
	resultEvicted = counter("result_cache_evictions_total", "Answers that had to leave.")
	resultRefused = counter("result_cache_refused_total", "Answers that were too large to be kept.")
)

// times is from 4 microseconds to 8 seconds.
var times = exponential(4e-6, 2, 22)

// exponential returns n bounds, each factor times the one before.
func exponential(first, factor float64, n int) []float64 {
	bounds := make([]float64, n)
	for i := range bounds {
		bounds[i] = first
		first *= factor
	}
	return bounds
}

func counter(name, help string, labels ...string) *Desc {
	return &Desc{Name: name, Help: help, Kind: KindCounter, Labels: labels}
}

func gauge(name, help string, labels ...string) *Desc {
	return &Desc{Name: name, Help: help, Kind: KindGauge, Labels: labels}
}

func histogram(name, help string, bounds []float64, labels ...string) *Desc {
	return &Desc{Name: name, Help: help, Kind: KindHistogram, Labels: labels, Bounds: bounds}
}
