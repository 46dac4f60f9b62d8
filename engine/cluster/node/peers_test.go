package node

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// TestStrangeAnnouncements: a URL that is not accepted does not take the place of the URL of a node, and is
// reported once. A message on the subject of another node changes nothing.
func TestStrangeAnnouncements(t *testing.T) {
	b, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	b.Start()
	defer func() { b.Shutdown(); b.WaitForShutdown() }()
	if !b.ReadyForConnections(patience) {
		t.Fatal("the NATS server does not start")
	}
	refused := make(chan string, 100)
	p, err := Listen(dial(t, b), &http.Client{Transport: new(http.Transport)}, func(u *url.URL) error {
		if strings.HasPrefix(u.Host, "evil") {
			return errors.New("a stranger")
		}
		return nil
	}, func(node string, err error) { refused <- node + ": " + err.Error() })
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.Add("n1", "http://first:1")
	p.Add("n1", "http://other:1") // n1 is known
	p.Add("n2", "http://evil:1")
	conn := dial(t, b)
	say := func(subject, node, at string) {
		t.Helper()
		text, err := json.Marshal(Announcement{Node: node, HTTP: at})
		if err == nil {
			err = conn.Publish("heddle.announce."+subject, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	say("n1", "n1", "http://evil:2")
	say("n1", "n1", "http://evil:3")
	say("x", "n1", "http://wrong:1")
	say("n1", "n1", "http://%zz")
	say("n3", "n3", "http://last:1")
	url := func(node string) string {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.all[node]
	}
	for end := time.Now().Add(patience); url("n3") == "" && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	if url("n1") != "http://first:1" || url("n2") != "" || url("n3") != "http://last:1" {
		t.Errorf("%v", p.all)
	}
	if _, err := p.Dial("n2"); err == nil {
		t.Error("a node without an accepted URL can be dialled")
	}
	if len(refused) != 2 || <-refused != "n2: a stranger" || <-refused != "n1: a stranger" {
		t.Errorf("%d further reports", len(refused))
	}
	say("n1", "n1", "http://moved:1")
	for end := time.Now().Add(patience); url("n1") != "http://moved:1" && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	if url("n1") != "http://moved:1" {
		t.Error("an accepted URL is refused")
	}
}
