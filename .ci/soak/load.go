package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// requests are queries: path and body.
var requests = [][2]string{
	{"indexes/words/search", `{"query":"word3 word100 rest2","k":10}`},
	{"indexes/words/search", `{"query":"number1999","k":3}`},
	{"indexes/words/match", `{"query":"word5 AND (rest1 OR rest3)"}`},
	{"indexes/words/search", `{"query":"all word7","k":20,"filter":{"table":"rows","where":"a < 50"}}`},
	{"tables/rows/count", `{"where":"a >= 60 AND b < 3000"}`},
	{"tables/rows/aggregate", `{"select":"a, count(*), max(b)","where":"b < 500","group_by":"a","order_by":"a"}`},
}

// broken are the bytes of connections that a client cuts.
var broken = []string{
	"GET / HTTP/9.9\r\n\r\n",
	"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
	"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\xff\xff\x09\xff\xff\xff\xff\xff",
	"POST /v1/indexes/words/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000\r\n\r\n{\"query\":",
	"POST /v1/indexes/words/search HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\n\x1f\x8b\x08zz",
	"POST /v1/indexes/words/search HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n",
	"POST /v1/indexes/words/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 18\r\n\r\n{\"query\":\"a AND (\"}",
	"POST /v1/indexes/words/match HTTP/1.1\r\nHost: localhost\r\nContent-Length: 15\r\n\r\n{\"query\":\"all\"}",
	"GET /" + strings.Repeat("a", 1<<16) + " HTTP/1.1\r\n\r\n",
}

var times = regexp.MustCompile(`"(took|queued)_ms":[0-9.e+-]+`)

// ask returns the answer without its times.
func (s *server) ask(r [2]string) (string, error) {
	answer, err := post("http://"+s.address+"/v1/"+r[0], "application/json", []byte(r[1]))
	return times.ReplaceAllString(string(answer), ""), err
}

// load starts the clients of a server.
func (s *server) load(group *sync.WaitGroup, end time.Time) {
	each := func(pause time.Duration, f func(i int) error) {
		group.Go(func() {
			for i := 0; time.Now().Before(end); i++ {
				if err := f(i); errors.Is(err, errRefused) {
					s.refused.Add(1)
				} else if err != nil {
					s.failed.Add(1)
					fmt.Fprintf(os.Stderr, "%s %s: %v\n", time.Now().Format(time.TimeOnly), s.name, err)
				}
				time.Sleep(pause)
			}
		})
	}
	each(300*time.Millisecond, s.query)
	each(time.Second, s.reload)
	each(time.Second, s.change)
	each(2*time.Second, s.cut)
	for range 4 {
		each(time.Second, s.slow)
	}
}

// query asks one request and compares its answer.
func (s *server) query(i int) error {
	r := i % len(requests)
	answer, err := s.ask(requests[r])
	s.queries.Add(1)
	if err == nil && answer != s.answers[r] {
		s.wrong.Add(1)
		err = fmt.Errorf("%s %s: %s, and not %s", requests[r][0], requests[r][1], answer, s.answers[r])
	}
	return err
}

// reload replaces the index and sends SIGHUP. One in twenty files is damaged.
func (s *server) reload(i int) error {
	content := s.files[i%2]
	if i%20 == 19 {
		s.faults.Add(1)
		content = bytes.Clone(content)
		switch i / 20 % 3 {
		case 0:
			content = content[:len(content)/2]
		case 1:
			copy(content, bytes.Repeat([]byte{0xa5}, 512))
		case 2:
			content = nil
		}
	}
	if err := s.replace(content); err != nil {
		return err
	}
	s.reloads.Add(1)
	return s.process.Process.Signal(syscall.SIGHUP)
}

// change adds a document, which replaces one of equal name, and finds it. So the collection has at
// most 200 documents. One in ten documents is deleted again.
func (s *server) change(i int) error {
	documents := "http://" + s.admin + "/v1/admin/indexes/notes/documents"
	name := fmt.Sprint("note", i%200)
	line := fmt.Sprintf(`{"id":%q,"text":"serial%d some words that are in all notes"}`, name, i)
	if _, err := post(documents, "application/x-ndjson", []byte(line)); err != nil {
		return fmt.Errorf("add: %w", err)
	}
	s.changes.Add(1)
	if err := s.found(name, i, 1); err != nil || i%10 != 0 {
		return err
	}
	if _, err := post(documents+"/delete", "application/json", fmt.Appendf(nil, `{"names":[%q]}`, name)); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	s.changes.Add(1)
	return s.found(name, i, 0)
}

func (s *server) found(name string, i, count int) error {
	answer, err := s.ask([2]string{"indexes/notes/match", fmt.Sprintf(`{"query":"serial%d"}`, i)})
	s.queries.Add(1)
	if err == nil && (!strings.Contains(answer, fmt.Sprintf(`"count":%d,`, count)) || strings.Contains(answer, name+`"`) != (count == 1)) {
		s.wrong.Add(1)
		err = fmt.Errorf("serial%d: %s, and not %d %s", i, answer, count, name)
	}
	return err
}

// cut sends broken bytes and cuts the connection, every other time by a reset.
func (s *server) cut(i int) error {
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		return err
	}
	defer c.Close()
	s.faults.Add(1)
	io.WriteString(c, broken[i%len(broken)])
	time.Sleep(100 * time.Millisecond)
	if i%2 == 0 {
		c.(*net.TCPConn).SetLinger(0)
	}
	return nil
}

// slow asks for a large answer and reads a byte a second for longer than the server waits (server.stall).
func (s *server) slow(int) error {
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		return err
	}
	defer c.Close()
	c.(*net.TCPConn).SetReadBuffer(2048)
	question := strings.Repeat(`{"query":"all","k":1000}`+"\n", 200)
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nContent-Length: %d\r\n\r\n%s",
		"/v1/indexes/words/search/batch", len(question), question)
	for range 40 {
		if _, err := c.Read(make([]byte, 1)); err != nil {
			break
		}
		time.Sleep(time.Second)
	}
	return nil
}
