//go:build !core

package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"

	"heddle/engine/plan/testneeds"
	"heddle/engine/server/access/accesstest"
)

// TestNodeIdentity: NATS and nodes with certificates and tokens. Nodes fetch files from each other, the
// server calls them over HTTP, and both refuse strangers. The announcement of a stranger changes nothing.
func TestNodeIdentity(t *testing.T) {
	testneeds.Sequential(t)
	testneeds.Waits(t)
	inTempDir(t)
	ca := accesstest.NewAuthority(t, ".", "ca")
	cert, key := ca.Sign("node")
	secret := must(t, "serve", "token", "--tokens", "tokens", "cluster")
	writeFile(t, "token", secret)
	f := &fleet{T: t, nodes: map[string]*serving{}}
	f.controls = newControls(t, 1, fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }\n", cert, key, ca.File))
	f.identity = []string{"--cluster-ca", ca.File, "--cluster-cert", cert, "--cluster-key", key}
	nodes := []string{"--tokens", "tokens", "--cert", cert, "--key", key, "--client-ca", ca.File, "--cluster-token", "token"}
	f.serverFlags = []string{"--cluster-token", "token"}
	f.begin([]string{"n1", "n2"}, nodes...)
	f.node("n3", nodes...)
	f.must("move", "books", "0", "n1", "n3") // n3 has the file from a node
	stop := f.load()
	defer stop()
	f.answers(40)
	stranger, err := nats.Connect(f.controls[0].url, nats.RootCAs(ca.File), nats.ClientCert(cert, key))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"n1", "n2", "n3"} { // an address that no machine has
		if err := stranger.Publish("heddle.announce."+name, fmt.Appendf(nil, `{"node":%q,"http":"http://192.0.2.1:80"}`, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := stranger.Flush(); err != nil {
		t.Fatal(err)
	}
	if about, err := stranger.RequestWithContext(t.Context(), "$SRV.INFO.heddle", nil); err != nil || !strings.Contains(string(about.Data), fmt.Sprintf(`"version":%q`, thisBuild().Version)) {
		t.Errorf("facts of a node: %v, %v", about, err)
	}
	stranger.Close()
	f.answers(100)       // NATS delivers meanwhile
	f.controls[0].kill() // all calls go over HTTPS
	f.answers(40)
	f.signal("n2", syscall.SIGKILL)
	f.answers(40)
	stop()
	if said := f.front.end(); strings.Count(said, "the URL of a node is refused") != 3 || !strings.Contains(said, "add 192.0.2.1 to cluster.trusted") {
		t.Errorf("messages: %s", said)
	}

	url := f.nodes["n3"].url
	if !strings.HasPrefix(url, "https://") {
		t.Fatalf("node at %s", url)
	}
	known := &http.Client{Transport: &http.Transport{TLSClientConfig: ca.Client(cert, key)}}
	unknown := &http.Client{Transport: &http.Transport{TLSClientConfig: ca.Client()}}
	defer known.CloseIdleConnections()
	if resp, err := unknown.Get(url + "/readyz"); err == nil {
		resp.Body.Close()
		t.Error("a client without a certificate has an answer")
	}
	for token, want := range map[string]int{"": http.StatusUnauthorized, "x": http.StatusUnauthorized, strings.TrimSpace(secret): http.StatusNotFound} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/files/absent", nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := known.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("token %q: status %d, want %d", token, resp.StatusCode, want)
		}
	}
	wantFailure(t, heddle(t, "cluster", "status", "--cluster", f.controls[0].url, "--cluster-token", "token"), exitUsage, "cluster-token")
	writeFile(t, "two", "a b\n")
	wantFailure(t, heddle(t, append([]string{"serve", "--cluster-token", "two"}, f.flags()...)...), exitFailure, "two: want one line with a token")
}

// TestForeignTools: the cluster works with a nats-server of the system (Debian's package nats-server),
// and its nodes answer the nats tool.
func TestForeignTools(t *testing.T) {
	program, err := exec.LookPath("nats-server")
	if err != nil {
		t.Skipf("needs nats-server on the PATH: %v", err)
	}
	inTempDir(t)
	f := newFleet(t, newControls(t, 1, "", program), "n1", "n2")
	stop := f.load()
	f.answers(40)
	stop()
	t.Run("nats tool", func(t *testing.T) {
		tool, err := exec.LookPath("nats")
		if err != nil {
			t.Skipf("needs the nats tool on the PATH: %v", err)
		}
		for _, c := range []struct{ command, want string }{
			{"micro ping heddle", "heddle "},
			{"micro info heddle", "a node of a heddle cluster"},
			{"micro stats heddle", "ShardService-ShardSearch"},
			{"micro list heddle", "heddle"},
			{"stream info KV_heddle", "$KV.heddle.>"},
			{"kv get heddle map.books --raw", `"epoch":1`},
		} {
			cmd := exec.CommandContext(t.Context(), tool, append([]string{"--server", f.controls[0].url}, strings.Fields(c.command)...)...)
			cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "NATS_") })
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), c.want) {
				t.Errorf("nats %s: %v\n%s", c.command, err, out)
			}
		}
	})
}
