// Package schedule assigns jobs to processors: devices and the host beside them. It knows the
// estimated run time of a job on each processor, and no queries or stores.
//
// Under light load it works asynchronously (Wu et al. 2010, section III): each job runs
// alone, on the processor that should finish it first. Under heavy load it works
// synchronously: jobs run in batches, closed by the computational threshold S·T·B of
// their processor (section IV) or by the age of the oldest job. It changes between the two
// by the measured load, with hysteresis. An idle processor starts a batch early.
//
// A job that cannot run at once waits in a bounded queue, in one of three classes (Ding et al.
// 2009, section 9): jobs that suit devices, jobs that suit the host, and jobs that do well
// on either. A processor without work takes the oldest of its own class, then of either,
// then steals from the other class where that ends sooner than waiting. A job near its
// deadline runs next. A job past its deadline fails, and no processor takes a job that it
// cannot end in time while another one can. Callers share the processors evenly. Within a
// caller small jobs go before large ones, for a bounded time: only jobs that arrive within a
// multiple of the large job's own time may overtake it. A job or call that has waited for two
// seconds starves. Starving jobs and calls, the oldest first, get up to an eighth of the batches
// and of the time, and have first choice of lanes and cores (starve.go).
//
// With host and device no measure should be worse than with the better one alone
// (cooperation_test.go). The host leaves the cores that feed devices, as measured, and some more
// (cores.go): its batches are smaller, or wait, and its blocks of calls take the threads for which
// cores are free. A processor that would add little to the rate of the others gets no work of
// theirs, except for a trial now and then (share.go).
//
// Jobs that arrive while another goroutine changes the queue do not wait for the lock: the
// goroutine that holds it admits them together, in order (inbox.go).
//
// A processor that fails is removed until a probe succeeds or Restore is called, and its jobs
// run elsewhere: each is answered once or fails with an error that errors.Is tells apart. The
// last processor is not removed because it hangs: its jobs wait (watch.go). Reserve processors
// run only jobs that no other processor can run.
package schedule
