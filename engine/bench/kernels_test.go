package bench

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// kernelFolders are the packages of package cl whose kernels the exhibits of a family run.
var kernelFolders = map[string][]string{
	"lists": {"match", "lists", "primitive"}, "decode": {"lists", "primitive"}, "rank": {"rank", "lists", "primitive"},
	"bitmap": {"bitmap", "primitive"}, "schedule": {"match", "rank", "lists", "primitive"},
}

// TestKernels: a figure of a device is not older than the last change of the kernels that it
// measures. behind.txt lists the runs that are; -update removes those that no longer are, and
// adds none.
func TestKernels(t *testing.T) {
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", args...).Output()
		return strings.TrimSpace(string(out)), err
	}
	if _, err := git("rev-parse", "9d13f0a^"); err != nil {
		t.Skip("needs the history of the repository")
	}
	changed := make(map[string]string) // the last change of the kernels of a family
	for family, folders := range kernelFolders {
		args := []string{"log", "-1", "--format=%h", "--", "../../cl/kernels/common.cl"}
		for _, name := range kernelFiles(t, folders) {
			args = append(args, "../../cl/kernels/"+name)
		}
		commit, err := git(args...)
		if err != nil || commit == "" {
			t.Fatalf("%s: %q, %v", family, commit, err)
		}
		changed[family] = commit
	}
	behind := make(map[string]bool) // "EXHIBIT COMMIT"
	for exhibit, runs := range deviceRuns(t) {
		for commit, family := range runs {
			if _, err := git("merge-base", "--is-ancestor", changed[family], commit); err != nil {
				behind[exhibit+" "+commit] = true
			}
		}
	}
	text, err := os.ReadFile("behind.txt")
	if err != nil {
		t.Fatal(err)
	}
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		switch {
		case line[0] == '#':
			kept.WriteString(line)
		case len(words) < 3:
			t.Errorf("%q: an exhibit, a commit and a reason", line)
		case behind[words[0]+" "+words[1]]:
			kept.WriteString(line)
			delete(behind, words[0]+" "+words[1])
		case !*update:
			t.Errorf("behind.txt lists %s %s, which is not behind its kernels, or replaced", words[0], words[1])
		}
	}
	for _, run := range slices.Sorted(maps.Keys(behind)) {
		t.Errorf("%s is older than the last change of its kernels: run heddle bench papers --run", run)
	}
	if *update {
		if err := os.WriteFile("behind.txt", []byte(kept.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// kernelFiles returns the names of kernels in the sources of packages of package cl.
func kernelFiles(t *testing.T, folders []string) (names []string) {
	t.Helper()
	quoted := regexp.MustCompile(`"([a-z_]+\.cl)"`)
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join("../../cl/internal", folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range quoted.FindAllSubmatch(text, -1) {
				names = append(names, string(m[1]))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) < 5 {
		t.Fatalf("%v: kernels %v", folders, names)
	}
	return names
}

// deviceRuns returns for each exhibit the commits of the figures of devices that count, with
// their families.
func deviceRuns(t *testing.T) map[string]map[string]string {
	t.Helper()
	files, err := os.ReadDir("results")
	if err != nil {
		t.Fatal(err)
	}
	type panel struct{ exhibit, name string }
	newest := make(map[panel][2]string) // commit and family; a later file replaces a panel
	for _, f := range files {
		parts := strings.Split(f.Name(), "-")
		for _, r := range readRun(t, f.Name()) {
			if r.Place != nil && r.Backend == "opencl" {
				newest[panel{r.Place.Exhibit, r.Place.Panel}] = [2]string{parts[3], r.Bench}
			}
		}
	}
	runs := make(map[string]map[string]string)
	for p, run := range newest {
		if kernelFolders[run[1]] == nil {
			t.Fatal(fmt.Errorf("%s: no kernels of family %q", p.exhibit, run[1]))
		}
		if runs[p.exhibit] == nil {
			runs[p.exhibit] = make(map[string]string)
		}
		runs[p.exhibit][run[0]] = run[1]
	}
	return runs
}
