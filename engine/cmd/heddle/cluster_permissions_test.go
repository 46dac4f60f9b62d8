//go:build !core

package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"

	"heddle/engine/plan/testneeds"
)

// The configuration of users in the README of the cluster, and the parts of a user and of its lists.
var (
	usersText = regexp.MustCompile(`(?s)authorization \{ users = \[\n.*?\n\] \}\n`)
	nodeText  = regexp.MustCompile(`(?s)  # heddle serve --node n1\n.*?\} \},\n`)
	userText  = regexp.MustCompile(`(?s)nkey: U(\w+)….*?\} \}`)
	listText  = regexp.MustCompile(`(?s)(pub|sub)(?:lish|scribe): \[(.*?)\]`)
)

// TestClusterPermissions: nodes, a server and an operator have exactly the permissions of NATS that the
// README of the cluster shows. They never exceed them, and use each of them.
func TestClusterPermissions(t *testing.T) {
	testneeds.Waits(t)
	readme, err := os.ReadFile("../../cluster/README.md")
	if err != nil {
		t.Fatal(err)
	}
	inTempDir(t)
	users := usersText.FindString(string(readme))
	node := nodeText.FindString(users)
	other := strings.NewReplacer("n1", "n2", "UNODE", "UOTHER").Replace(node)
	config := strings.Replace(users, node, node+other, 1)
	roles := map[string]string{} // by public key
	for _, role := range []string{"NODE", "OTHER", "SERVER", "OPERATOR"} {
		key, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		seed, _ := key.Seed()
		public, _ := key.PublicKey()
		writeFile(t, role, string(seed))
		config = strings.Replace(config, "U"+role+"…", public, 1)
		roles[public] = strings.Replace(role, "OTHER", "NODE", 1)
	}
	f := &fleet{T: t, nodes: map[string]*serving{}, identity: []string{"--cluster-nkey", "OPERATOR"}, serverFlags: []string{"--cluster-nkey", "SERVER"}}
	f.controls = newControls(t, 1, config+"trace: true\nlog_file: nats.log\n")
	f.must("status") // creates the bucket
	f.node("n1", "--cluster-nkey", "NODE")
	f.node("n2", "--cluster-nkey", "OTHER")
	f.begin(nil)
	stop := f.load()
	f.answers(40)
	stop()
	if got := f.front.get("/v1/cluster"); !strings.Contains(got, `"alive":true`) {
		t.Errorf("the cluster: %s", got)
	}
	f.must("remove", "books")
	f.must("drain", "n2")
	f.must("drain", "n2", "--undo")
	for !f.uses(roles, "NODE pub", "heddle.alive") { // it does unless both nodes open their shards at once
		f.must("publish", "books")
		f.must("remove", "books")
	}
	for _, s := range []*serving{f.front, f.nodes["n1"], f.nodes["n2"]} {
		s.end()
	}
	for !f.uses(roles, "NODE pub", "$JS.API.CONSUMER.DELETE.>") { // a node may end before it deletes its watch
		f.node("n1", "--cluster-nkey", "NODE").end()
	}

	log, err := os.ReadFile("nats.log")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range regexp.MustCompile(`.* Violation - .*`).FindAllString(string(log), -1) {
		t.Error(line)
	}
	lists := 0
	for _, user := range userText.FindAllStringSubmatch(users, -1) {
		for _, list := range listText.FindAllStringSubmatch(user[0], -1) {
			lists++
			for _, subject := range regexp.MustCompile(`"(.*?)"`).FindAllStringSubmatch(list[2], -1) {
				if !f.uses(roles, user[1]+" "+list[1], subject[1]) {
					t.Errorf("%s %s: %s is not used", user[1], list[1], subject[1])
				}
			}
		}
	}
	if lists != 6 {
		t.Errorf("the README has %d lists of subjects, want 6", lists)
	}
}

// traced is a line of the log of NATS about a subject that a user names.
var traced = regexp.MustCompile(`nkey:(\w+)" - <<- \[H?(PUB|SUB) (\S+)`)

// uses reports whether a role has published or subscribed to a subject that a pattern permits.
func (f *fleet) uses(roles map[string]string, role, pattern string) bool {
	f.Helper()
	log, err := os.ReadFile("nats.log")
	if err != nil {
		f.Fatal(err)
	}
	matches := regexp.MustCompile("^" + strings.NewReplacer(`\*`, `[^.]+`, ">", ".+").Replace(regexp.QuoteMeta(pattern)) + "$")
	return slices.ContainsFunc(traced.FindAllStringSubmatch(string(log), -1), func(m []string) bool {
		return roles[m[1]]+" "+strings.ToLower(m[2]) == role && matches.MatchString(m[3])
	})
}
