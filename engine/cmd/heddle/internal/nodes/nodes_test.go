package nodes

import (
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"testing"
)

// TestNodeEnv: a node gets its share of the cores unless the environment says otherwise, and no settings of the server.
func TestNodeEnv(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for nodes, want := range map[int]int{1: 4, 3: 2, 64: 1} {
		env := nodeEnv([]string{"A=b", "HEDDLE_SERVER_LISTEN=x", "HEDDLE_CLUSTER_NODE=x"}, nodes)
		if all := []string{fmt.Sprint("GOMAXPROCS=", want), "A=b"}; !slices.Equal(env, all) {
			t.Errorf("%d nodes: %q, want %q", nodes, env, all)
		}
	}
	cmd := exec.Command("x")
	cmd.Env = nodeEnv([]string{"GOMAXPROCS=7"}, 2)
	if got := cmd.Environ(); !slices.Contains(got, "GOMAXPROCS=7") || slices.Contains(got, "GOMAXPROCS=2") {
		t.Errorf("%q", got)
	}
}
