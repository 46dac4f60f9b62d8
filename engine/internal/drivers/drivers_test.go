package drivers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// TestDrivers reads .icd files of all kinds.
func TestDrivers(t *testing.T) {
	root := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	put("/usr/lib/liba.so.1", "")
	put("/opt/b.so", "")
	put("/etc/ld.so.conf.d/x.conf", "# folders\n/opt/own\n")
	put("/opt/own/libc.so", "")
	put(Vendors+"/a.icd", "liba.so.1\nsecond line\n")
	put(Vendors+"/a2.icd", "/usr/lib/liba.so.1")
	put(Vendors+"/b.icd", " /opt/b.so \n")
	put(Vendors+"/c.icd", "libc.so")
	put(Vendors+"/b2.icd", "/opt/b.so.1")
	if err := os.Symlink("b.so", filepath.Join(root, "/opt/b.so.1")); err != nil {
		t.Fatal(err)
	}
	put(Vendors+"/d.icd", "")
	put(Vendors+"/e.icd", "gone.so\n")
	put(Vendors+"/f.txt", "liba.so.1")
	put("/other/z.icd", "/opt/b.so\n")
	for _, c := range []struct {
		environ []string
		want    string
	}{
		{nil, "a.icd a2.icd=/usr/lib/liba.so.1; b.icd b2.icd=/opt/b.so; c.icd=/opt/own/libc.so; d.icd=; e.icd="},
		{[]string{"OCL_ICD_VENDORS=/other"}, "z.icd=/opt/b.so"},
		{[]string{"OCL_ICD_VENDORS=/other/z.icd"}, "z.icd=/opt/b.so"},
		{[]string{"OCL_ICD_VENDORS=/opt/b.so"}, "b.so=/opt/b.so"},
		{[]string{"OCL_ICD_VENDORS=/none"}, ""},
		{[]string{"OPENCL_VENDOR_PATH=/other/"}, "z.icd=/opt/b.so"},
		{[]string{"OCL_ICD_VENDORS=/other", "OCL_ICD_FILENAMES=liba.so.1"}, "liba.so.1=/usr/lib/liba.so.1; z.icd=/opt/b.so"},
		{[]string{"LD_LIBRARY_PATH=/none:/opt", "OCL_ICD_VENDORS=b.so"}, "b.so=/opt/b.so"},
	} {
		s := System{root, c.environ}
		var got []string
		for _, d := range s.Drivers() {
			var files []string
			for _, f := range d.Files {
				files = append(files, filepath.Base(f))
			}
			got = append(got, strings.Join(files, " ")+"="+d.Path)
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%v: %s, want %s", c.environ, text, c.want)
		}
	}
}

// TestMain is a child process that acts as the argument tells.
func TestMain(m *testing.M) {
	switch os.Getenv("DRIVERS_TEST_CHILD") {
	case "":
		os.Exit(m.Run())
	case "result":
		os.Stdout.WriteString("banner\n" + `{"phase":"load"}` + "\n{}\n" + `{"result":{"empty":["platform"],"took":5}}` + "\n")
		select {} // a driver that hangs at the end
	case "garbage":
		os.Stdout.WriteString("{\"phase\":\"build\"}\nnull\n{\"result\":")
	case "memory":
		os.Stderr.WriteString("fatal error: runtime: cannot allocate memory\n")
		os.Exit(2)
	case "orphan":
		if err := Child(context.Background(), os.Stdin, os.Stdout); err != nil {
			os.Stdout.WriteString(err.Error())
		}
	}
}

// TestStart reads the reports of children, and describes the end of the ones without a report.
func TestStart(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[string]Result{
		"result":  {Empty: []string{"platform"}, Took: 5},
		"garbage": {Phase: "build", Fault: "the process ended with exit code 0"},
		"memory":  {Phase: Start, Fault: memoryText()},
	} {
		o := Options{Program: []string{self}, Environ: append(os.Environ(), "DRIVERS_TEST_CHILD="+mode), Limit: time.Minute}
		ctx := t.Context()
		if mode == "result" {
			o.Limit = time.Second // until it is killed
		}
		got := o.start(ctx, Driver{})
		if got.Phase != want.Phase || got.Fault != want.Fault || !slices.Equal(got.Empty, want.Empty) || got.Took != want.Took {
			t.Errorf("%s: %+v, want %+v", mode, got, want)
		}
	}
	if got := (&Options{Program: []string{"/no/such/program"}, Limit: time.Minute}).start(t.Context(), Driver{}); got.Phase != Start || got.Error == "" || got.Fault != "" {
		t.Errorf("without a program: %+v", got)
	}
	out, err := exec.CommandContext(t.Context(), "env", "DRIVERS_TEST_CHILD=orphan", self).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "holds no request") {
		t.Errorf("a child without a request: %v, %s", err, out)
	}
}

// TestCancelled: nothing is kept when the caller gives up, and the children end.
func TestCancelled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	library := filepath.Join(folder, "driver.so")
	if err := errors.Join(os.WriteFile(library, nil, 0o644), os.WriteFile(filepath.Join(folder, "x.icd"), []byte(library), 0o644)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, stop)
	o := Options{Program: []string{self}, Environ: append(os.Environ(), "DRIVERS_TEST_CHILD=result", "OCL_ICD_FILENAMES=", "OCL_ICD_VENDORS="+folder), Cache: filepath.Join(folder, "cache"), Limit: time.Hour}
	if _, err := Probe(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if kept, _ := filepath.Glob(filepath.Join(folder, "cache", "drivers", "*")); len(kept) > 0 {
		t.Errorf("files %v", kept)
	}
}

// TestWatch: a phase without progress ends after the limit, one that computes after thirty limits,
// and a new phase has a limit of its own.
func TestWatch(t *testing.T) {
	const limit = 20 * time.Second
	for _, c := range []struct {
		name   string
		share  float64       // fraction of a core that the child takes
		phases time.Duration // length of a phase; 0: one without end
		want   time.Duration // time of the kill; 0: none
	}{
		{"sleeps", 0, 0, limit},
		{"polls", 0.01, 0, limit},
		{"computes", 0.5, 0, longest * limit},
		{"goes on", 0, limit * 9 / 10, 0},
	} {
		testneeds.VirtualTime(t, func(t *testing.T) {
			began, killed := time.Now(), time.Duration(0)
			w := &child{limit: limit, kill: func() { killed = time.Since(began) },
				cpu: func() time.Duration { return time.Duration(c.share * float64(time.Since(began))) }}
			w.phase.Store(&phase{Load, began})
			ended := make(chan struct{})
			if c.phases > 0 {
				go func() {
					defer close(ended)
					for range 50 {
						time.Sleep(c.phases)
						w.phase.Store(&phase{Load, time.Now()})
					}
				}()
			}
			w.watch(ended)
			if killed < c.want || killed > c.want+limit || (c.want == 0) != (killed == 0) {
				t.Errorf("%s: killed after %v, want %v", c.name, killed, c.want)
			}
			if fault := w.fault(nil, ""); (c.want > 0) != strings.HasPrefix(fault, "no answer for ") {
				t.Errorf("%s: fault %q", c.name, fault)
			}
		})
	}
}

// TestReport: a child tells its CPU time again and again, and the parent keeps the last one.
func TestReport(t *testing.T) {
	var out bytes.Buffer
	testneeds.VirtualTime(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 4*reports+reports/2)
		defer stop()
		report(ctx, func(m message) { json.NewEncoder(&out).Encode(m) })
	})
	if n := strings.Count(out.String(), `"cpu":`); n != 4 {
		t.Errorf("%d messages: %s", n, &out)
	}
	out.WriteString(`{"cpu":1234}` + "\n" + `{"phase":"build"}` + "\n")
	c := &child{}
	c.read(&out)
	if got := c.reported.Load(); got != 1234 {
		t.Errorf("the parent keeps %d ns", got)
	}
}

// TestAwait: a call that returns gives its error, and one that does not ends after the limit.
func TestAwait(t *testing.T) {
	testneeds.VirtualTime(t, func(t *testing.T) {
		idle := func() time.Duration { return 0 }
		failure := errors.New("failure")
		if err := await(0, idle, func() error { time.Sleep(DefaultLimit / 2); return failure }); err != failure {
			t.Errorf("error %v", err)
		}
		began, forever := time.Now(), make(chan struct{})
		err := await(time.Minute, idle, func() error { <-forever; return nil })
		if took := time.Since(began); !errors.Is(err, ErrNoAnswer) || took < time.Minute || took > 2*time.Minute {
			t.Errorf("%v after %v", err, took)
		}
		close(forever)
	})
}

// TestCacheAge: a fault counts for minutes, a good result for days.
func TestCacheAge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.json")
	for _, c := range []struct {
		text string
		age  time.Duration
		want bool
	}{
		{`{}`, time.Hour, true}, {`{}`, goodAge + time.Hour, false}, {`{"fault":"signal"}`, time.Minute, true}, {`{"fault":"signal"}`, time.Hour, false},
		{`{}`, -time.Hour, false}, {`{`, 0, false}, {``, 0, false}, {`[]`, 0, false},
	} {
		at := time.Now().Add(-c.age)
		if err := errors.Join(os.WriteFile(path, []byte(c.text), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
		if _, _, ok := read(path); ok != c.want {
			t.Errorf("%s after %v: %v", c.text, c.age, ok)
		}
	}
}

// TestPassed: all devices like one have passed the self-test, and at least one.
func TestPassed(t *testing.T) {
	info := plan.Info{Device: "a", Driver: "1", Tuning: "row"}
	for _, c := range []struct {
		devices []Device
		want    bool
	}{
		{nil, false},
		{[]Device{{Info: info, Tested: true}}, true},
		{[]Device{{Info: plan.Info{Device: "a", Driver: "1", Tuning: "row", Memory: 1, Algorithms: []plan.Algorithm{plan.BS}}, Tested: true}}, true},
		{[]Device{{Info: info}}, false},
		{[]Device{{Info: info, Tested: true, Error: "wrong"}}, false},
		{[]Device{{Info: info, Tested: true}, {Info: info, Tested: true, Error: "wrong"}}, false},
		{[]Device{{Info: info, Tested: true, Error: "wrong"}, {Info: info, Tested: true}}, false},
		{[]Device{{Info: plan.Info{Device: "b", Driver: "1", Tuning: "row"}, Tested: true}}, false},
		{[]Device{{Info: plan.Info{Device: "a", Driver: "2", Tuning: "row"}, Tested: true}}, false},
		{[]Device{{Info: plan.Info{Device: "a", Driver: "1", Tuning: "other"}, Tested: true}}, false},
	} {
		if got := (Report{{}, {Devices: c.devices}}).Passed(info); got != c.want {
			t.Errorf("%+v: %t", c.devices, got)
		}
	}
}

// TestCacheOfLibrary: a result does not count for another library in place of the loader.
func TestCacheOfLibrary(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	library := filepath.Join(t.TempDir(), "libOpenCL.so")
	o := Options{Program: []string{self}, Environ: []string{"HEDDLE_OPENCL_LIBRARY=" + library}, Cache: t.TempDir()}
	if _, ok := o.openCache().path(Driver{}, All); ok {
		t.Error("a library that is not there")
	}
	var paths [2]string
	for i := range paths {
		if err := os.WriteFile(library, make([]byte, i), 0o600); err != nil {
			t.Fatal(err)
		}
		paths[i], _ = o.openCache().path(Driver{}, All)
	}
	if paths[0] == "" || paths[0] == paths[1] {
		t.Errorf("files %v", paths)
	}
}
