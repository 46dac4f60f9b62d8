package testneeds

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// channels gives channels to several tests.
var channels = sync.Pool{New: func() any { return make(chan int, 1) }}

// TestVirtualTime: a day passes at once, and channels of virtual time stay in it.
func TestVirtualTime(t *testing.T) {
	for range 3 {
		VirtualTime(t, func(*testing.T) {
			began := time.Now()
			c := channels.Get().(chan int)
			time.AfterFunc(24*time.Hour, func() { c <- 1 })
			<-c
			channels.Put(c)
			if past := time.Since(began); past != 24*time.Hour {
				t.Errorf("%v have passed", past)
			}
		})
		c := channels.Get().(chan int)
		c <- 1
		<-c
		channels.Put(c)
	}
}

// hangs are tests that do not end: by a mutex, by sleep, and by a channel.
var hangs = map[string]func(*testing.T){
	"mutex": func(*testing.T) {
		var m sync.Mutex
		m.Lock()
		m.Lock()
	},
	"sleep": func(*testing.T) {
		for {
			time.Sleep(time.Second)
		}
	},
	"channel": func(*testing.T) { <-make(chan int) },
}

// TestHangs: a program whose test hangs ends with the name of the test and the place where it waits.
func TestHangs(t *testing.T) {
	if kind := os.Getenv("HEDDLE_TEST_HANG"); kind != "" {
		longest = 100 * time.Millisecond
		VirtualTime(t, hangs[kind])
	}
	for kind := range hangs {
		c := exec.Command(os.Args[0], "-test.run=^TestHangs$", "-test.timeout=1m")
		c.Env = append(os.Environ(), "HEDDLE_TEST_HANG="+kind)
		out, err := c.CombinedOutput()
		text := string(out)
		first, _, _ := strings.Cut(text, "\n")
		if err == nil || !strings.Contains(first, "TestHangs") || strings.Contains(text, "timed out") || !strings.Contains(text, "virtual_test.go") {
			t.Errorf("%s: %v\n%s", kind, err, text)
		}
	}
}
