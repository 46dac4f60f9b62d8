package structure

import (
	"encoding/json"
	"os/exec"
	"path"
	"strings"
	"testing"
)

// versions returns the modules that a go.mod requires, with their versions.
func versions(t *testing.T, file string) map[string]string {
	t.Helper()
	cmd := exec.Command("go", "mod", "edit", "-json", file)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var mod struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	all := make(map[string]string)
	for _, r := range mod.Require {
		all[r.Path] = r.Version
	}
	return all
}

// TestModulesAgree: a module that uses heddle requires the same versions as heddle. Go compiles a
// package again for each version of the module or of its dependencies.
func TestModulesAgree(t *testing.T) {
	cmd := exec.Command("git", "ls-files", "*/go.mod")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	own, users := versions(t, "go.mod"), 0
	for file := range strings.FieldsSeq(string(out)) {
		required := versions(t, file)
		if _, uses := required["heddle"]; !uses {
			continue
		}
		users++
		for module, version := range required {
			if want, shared := own[module]; shared && version != want && module != "heddle" {
				t.Errorf("%s has %s %s, heddle has %s: go get -C %s %s@%s", file, module, version, want, path.Dir(file), module, want)
			}
		}
	}
	if users == 0 {
		t.Error("no module uses heddle")
	}
}
