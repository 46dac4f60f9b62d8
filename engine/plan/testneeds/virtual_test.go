package testneeds

import (
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
