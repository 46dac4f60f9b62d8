// Package schedule assigns jobs to processors: devices and the host beside them. It knows the
// estimated run time of a job on each processor, and no queries or stores.
//
// The mechanism owns the order of jobs, deadlines, cancellation, claims of answers, calls with many
// queries, faults and the watch on batches. A Policy owns the rest: which processor runs a job, whether
// alone or in a batch, and when a batch closes. The policies are
//
//   - cooperative, the default: modes, classes, stealing, and the rule of cooperation (cooperative.go);
//   - device-first: devices run all that they can, the host runs the rest (devicefirst.go);
//   - wu: alone under light load, batches on devices under heavy load (wu.go);
//   - ding: three classes of jobs, stealing, deadlines (ding.go).
//
// A job that cannot run at once waits in a bounded queue. Callers share the processors evenly. Within
// a caller small jobs go before large ones, for a bounded time: only jobs that arrive within a
// multiple of the large job's own time may overtake it. A job near its deadline runs next. A job past
// its deadline fails, and no processor takes a job that it cannot end in time while another one can. A
// job or call that has waited for two seconds starves. Starving jobs and calls, the oldest first, get
// up to an eighth of the batches and of the time, and have first choice of lanes and cores.
//
// Jobs that arrive while another goroutine changes the queue do not wait for the lock: the
// goroutine that holds it admits them together, in order (inbox.go).
//
// A processor that fails is removed until a probe succeeds or Restore is called, and its jobs
// run elsewhere: each is answered once or fails with an error that errors.Is tells apart. The
// last processor is not removed because it hangs: its jobs wait (watch.go). Reserve processors
// run only jobs that no other processor can run.
package schedule
