package schedule

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// once fails with err the first time that it runs, when it has claimed that many jobs.
func once(p Processor, err error, claims int) Processor {
	run, done := p.Run, false
	p.Run = func(ctx context.Context, b *Batch) error {
		if done {
			return run(ctx, b)
		}
		done = true
		time.Sleep(ms)
		for i := range b.Jobs[:claims] {
			b.Claim(i)
			b.Jobs[i].Work.(*task).answers.Add(1)
		}
		return err
	}
	return p
}

// Jobs that a processor fails run elsewhere. Permanent errors remove the processor.
func TestFaultsOfProcessors(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		claims int
		out    bool
	}{
		{"lost", plan.ErrDeviceLost, 0, true},
		{"lost, with some answers", plan.ErrDeviceLost, 3, true},
		{"build", plan.ErrBuild, 0, true},
		{"self-test", plan.ErrSelfTest, 0, true},
		{"memory", plan.ErrOutOfMemory, 0, false},
		{"untyped", errOwn, 2, false},
		{"unanswered", nil, 5, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			testneeds.Bubble(t, func(t *testing.T) {
				var err error
				if c.err != nil {
					err = &plan.DeviceError{Kind: c.err, Device: "gpu", Op: "run"}
				}
				var events []Event
				opt := Options{Mode: Sync, Event: func(e Event) { events = append(events, e) }}
				s := start(t, opt, once(fake(0, "gpu", 1), err, c.claims), fake(1, "host", 1))
				jobs := jobsOf("", 8, ms, 20*ms)
				runAll(t, s, jobs)
				for i, j := range jobs {
					name, attempts := "gpu", 2
					if i < c.claims {
						attempts = 1
					} else if c.out || c.err == plan.ErrOutOfMemory {
						name = "host"
					}
					if r := j.Trace; answers(j) != 1 || r.Attempts != attempts || c.name != "untyped" && c.name != "unanswered" && r.Processor != name {
						t.Errorf("job %d: %d answers, %+v", i, answers(j), r)
					}
				}
				st := s.Stats()
				if out := st.Processors[0].Out; (out != nil) != c.out || c.out && !errors.Is(out, c.err) ||
					st.Answered != 8 || st.Retried != uint64(8-c.claims) || (len(events) == 1) != c.out {
					t.Errorf("%+v, %d events", st, len(events))
				}
				j := newJob(ms, 20*ms)
				if err := s.Do(t.Context(), j); err != nil || (j.Trace.Processor == "host") != c.out {
					t.Errorf("%v: %+v", err, j.Trace)
				}
			})
		})
	}
}

// A processor that fails all jobs, by errors that might be theirs: they are answered
// elsewhere, and it is taken out. Jobs that fail everywhere take nothing out.
func TestOddErrors(t *testing.T) {
	for _, mode := range []Mode{Async, Sync} {
		testneeds.Bubble(t, func(t *testing.T) {
			gpu := fake(0, "gpu", 2)
			broken := false
			run := gpu.Run
			gpu.Run = func(ctx context.Context, b *Batch) error {
				if broken {
					time.Sleep(us)
					return errOwn
				}
				return run(ctx, b)
			}
			s := start(t, Options{Mode: mode}, gpu, fake(1, "host", 1))
			for range 10 {
				j := newJob(ms, 20*ms)
				j.Work.(*task).fail = errOwn
				if err := s.Do(t.Context(), j); err != errOwn || j.Trace.Attempts != 2 {
					t.Errorf("%v: %+v", err, j.Trace)
				}
			}
			if st := s.Stats(); st.Processors[0].Out != nil || st.Processors[1].Out != nil {
				t.Fatalf("%+v", st)
			}
			broken = true
			jobs := jobsOf("", 20, ms, 20*ms)
			runAll(t, s, jobs)
			for i, j := range jobs {
				if answers(j) != 1 || j.Trace.Processor != "host" {
					t.Errorf("job %d: %d answers, %+v", i, answers(j), j.Trace)
				}
			}
			if st := s.Stats(); st.Processors[0].Out != errOwn || st.Processors[1].Out != nil {
				t.Errorf("%+v", st)
			}
		})
	}
}

// Failures with successes between them are not in a row, though other processors answer the
// failed jobs much later.
func TestOddErrorsFarBetween(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		gpu := fake(0, "gpu", 1)
		n, run := 0, gpu.Run
		gpu.Run = func(ctx context.Context, b *Batch) error {
			if n++; n%3 == 0 {
				return errOwn
			}
			return run(ctx, b)
		}
		s := start(t, Options{Mode: Async}, gpu, fake(1, "host", 4))
		var ends []<-chan error
		jobs := jobsOf("", 12, ms, time.Second)
		for _, j := range jobs {
			ends = append(ends, launch(s, j))
		}
		for i, end := range ends {
			if err := <-end; err != nil || answers(jobs[i]) != 1 {
				t.Errorf("job %d: %d answers, %v", i, answers(jobs[i]), err)
			}
		}
		if st := s.Stats(); st.Processors[0].Out != nil || st.Processors[1].Jobs != 4 {
			t.Errorf("%+v", st)
		}
	})
}

// Three failures in a row are three, whether the processor answers another job before or
// after these are answered elsewhere; so is returning without an answer.
func TestOddErrorsInARow(t *testing.T) {
	for _, failure := range []error{errOwn, nil} {
		for _, early := range []bool{false, true} {
			testneeds.Bubble(t, func(t *testing.T) {
				gpu := fake(0, "gpu", 1)
				gate, n := make(chan struct{}), 0
				gpu.Run = func(ctx context.Context, b *Batch) error {
					if n++; n <= 3 {
						time.Sleep(us)
						return failure
					}
					<-gate
					return answer(b)
				}
				s := start(t, Options{Mode: Async}, gpu, fake(1, "host", 1))
				var ends []<-chan error
				for _, j := range append(jobsOf("", 3, ms, 50*ms), newJob(ms, -1)) {
					ends = append(ends, launch(s, j))
					time.Sleep(10 * us)
				}
				time.Sleep(75 * ms) // the first of the three has been answered on the host
				if early {
					close(gate)
				}
				time.Sleep(time.Second)
				if s.Stats().Processors[0].Out == nil {
					t.Errorf("%v, the fourth answered early %v: still in", failure, early)
				}
				if !early {
					close(gate)
				}
				for _, end := range ends {
					<-end
				}
			})
		}
	}
}

// The error of a job is its own: the others of its batch are answered.
func TestErrorOfJob(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		s := start(t, Options{Mode: Sync}, fake(0, "gpu", 1))
		jobs := jobsOf("", 8, ms)
		jobs[3].Work.(*task).fail = errOwn
		var ends []<-chan error
		for _, j := range jobs {
			ends = append(ends, launch(s, j))
		}
		for i, end := range ends {
			want, n := error(nil), 1
			if i == 3 {
				want, n = errOwn, 0
			}
			if err := <-end; err != want || answers(jobs[i]) != n {
				t.Errorf("job %d: %v, %d answers", i, err, answers(jobs[i]))
			}
		}
		if st := s.Stats(); st.Answered != 7 || st.Failed != 1 || st.Processors[0].Out != nil {
			t.Errorf("%+v", st)
		}
	})
}

// Out of memory: a job is not tried there again; after three in a row the processor is
// out. A batch of which no other processor can run the jobs is run one by one.
func TestOutOfMemory(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		gpu := fake(0, "gpu", 1)
		limit := 1
		gpu.Run = func(ctx context.Context, b *Batch) error {
			time.Sleep(b.Estimate)
			if len(b.Jobs) > limit {
				return &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: "gpu", Op: "upload"}
			}
			return answer(b)
		}
		s := start(t, Options{Mode: Sync}, gpu, fake(1, "host", 1))
		runAll(t, s, jobsOf("", 16, ms, -1)) // two batches, then one by one
		limit = 0
		jobs := jobsOf("", 3, ms, 2*ms)
		for i, j := range jobs {
			j.Mode = Async
			if err := s.Do(t.Context(), j); err != nil || j.Trace.Processor != "host" || j.Trace.Attempts != 2 {
				t.Errorf("%v: %+v", err, j.Trace)
			}
			if out := s.Stats().Processors[0].Out; (out != nil) != (i == 2) || out != nil && !errors.Is(out, plan.ErrOutOfMemory) {
				t.Errorf("after %d: %v", i+1, out)
			}
		}
		err := s.Do(t.Context(), newJob(ms, -1))
		if !errors.Is(err, ErrNoProcessor) || !errors.Is(err, plan.ErrOutOfMemory) {
			t.Error(err)
		}
		if err := s.Do(t.Context(), newJob(-1, -1)); !errors.Is(err, ErrNoProcessor) {
			t.Error(err)
		}
	})
}

// Jobs that are too large run elsewhere, however many they are. The other jobs of their
// batches and later jobs stay. Without another processor, the error gives the reason.
func TestTooLarge(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		gpu, large := fake(0, "gpu", 1), map[*Job]bool{}
		gpu.Run = func(ctx context.Context, b *Batch) error {
			time.Sleep(b.Estimate)
			for _, j := range b.Jobs {
				if large[j] {
					return &plan.DeviceError{Kind: plan.ErrTooLarge, Device: "gpu", Op: "run"}
				}
			}
			return answer(b)
		}
		s := start(t, Options{Mode: Sync}, gpu, fake(1, "host", 1))
		jobs := jobsOf("", 16, ms, 20*ms)
		for i, j := range jobs {
			large[j] = i%3 == 0
		}
		runAll(t, s, jobs)
		for i, j := range jobs {
			if want := map[bool]string{true: "host", false: "gpu"}[large[j]]; answers(j) != 1 || j.Trace.Processor != want {
				t.Errorf("job %d: %d answers, %+v", i, answers(j), j.Trace)
			}
		}
		j := newJob(ms, -1)
		large[j] = true
		if err := s.Do(t.Context(), j); !errors.Is(err, plan.ErrTooLarge) {
			t.Error(err)
		}
		if st := s.Stats(); st.Processors[0].Out != nil || st.Answered != 16 || st.Failed != 1 {
			t.Errorf("%+v", st)
		}
	})
}

// The jobs of a batch that hangs run elsewhere, and its late answers are dropped. Close
// does not wait for it.
func TestHang(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		gpu := fake(0, "gpu", 1)
		late := make(chan bool, 8)
		gpu.Run = func(ctx context.Context, b *Batch) error {
			jobs := slices.Clone(b.Jobs)
			time.Sleep(time.Hour)
			for i := range jobs {
				late <- b.Claim(i)
			}
			return plan.ErrDeviceLost
		}
		s := start(t, Options{Mode: Sync, Hang: time.Second}, gpu, fake(1, "host", 1))
		jobs := jobsOf("", 8, 30*ms, 500*ms) // 240 ms in all: 12 s
		waits := jobsOf("", 1, ms, 100*time.Second)
		begin := time.Now()
		end := launch(s, waits[0])
		runAll(t, s, jobs[:7])
		if err := <-end; err != nil {
			t.Error(err)
		}
		for _, j := range jobs[:7] {
			if j.Trace.Processor != "host" || answers(j) != 1 {
				t.Errorf("%+v, %d answers", j.Trace, answers(j))
			}
		}
		if out := s.Stats().Processors[0].Out; !errors.Is(out, ErrHung) {
			t.Error(out)
		}
		if since := jobs[0].Trace.Arrived.Add(jobs[0].Trace.Queued).Sub(begin); since < 10*time.Second || since > 20*time.Second {
			t.Errorf("they began elsewhere after %v", since)
		}
		if err := s.Close(); err != nil || time.Since(begin) > 30*time.Minute {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		for range 8 {
			if <-late {
				t.Error("an answer that comes too late was taken")
			}
		}
	})
}

// A removal moves waiting and running jobs. Without another processor they fail.
func TestTakeOut(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		host := fake(1, "host", 1)
		host.Inline = true
		s := start(t, Options{Mode: Async}, fake(0, "gpu", 1), host)
		var ends []<-chan error
		jobs := append(jobsOf("", 5, 10*ms, 50*ms), jobsOf("", 3, 50*ms, 10*ms)...)
		for _, j := range jobs {
			ends = append(ends, launch(s, j))
			synctest.Wait()
		}
		time.Sleep(5 * ms)
		s.takeOut(1, errOwn)
		for i, end := range ends {
			if err := <-end; err != nil || jobs[i].Trace.Processor != "gpu" || answers(jobs[i]) != 1 {
				t.Errorf("job %d: %v, %+v", i, err, jobs[i].Trace)
			}
		}
		end := launch(s, newJob(10*ms, 10*ms))
		synctest.Wait()
		s.takeOut(0, errOwn)
		if err := <-end; !errors.Is(err, ErrNoProcessor) {
			t.Error(err)
		}
		if err := s.Do(t.Context(), newJob(ms, ms)); !errors.Is(err, ErrNoProcessor) || !errors.Is(err, errOwn) {
			t.Error(err)
		}
		if err := s.DoAll(t.Context(), &blocks{left: jobsOf("", 1, ms, ms)}, "", time.Time{}); !errors.Is(err, ErrNoProcessor) {
			t.Error(err)
		}
	})
}

// A panic on the goroutine of a caller that recovers leaves the lane free.
func TestPanicInline(t *testing.T) {
	testneeds.Bubble(t, func(t *testing.T) {
		host := fake(0, "host", 1)
		host.Inline = true
		run, fails := host.Run, true
		host.Run = func(ctx context.Context, b *Batch) error {
			if fails {
				panic("of the job")
			}
			return run(ctx, b)
		}
		s := start(t, Options{Mode: Async}, host)
		func() {
			defer func() {
				if got := recover(); got != "of the job" {
					t.Errorf("%v", got)
				}
			}()
			s.Do(t.Context(), newJob(ms))
		}()
		fails = false
		if err := s.Do(t.Context(), newJob(ms)); err != nil {
			t.Error(err)
		}
		if st := s.Stats(); st.Failed != 1 || st.Answered != 1 {
			t.Errorf("%+v", st)
		}
	})
}
