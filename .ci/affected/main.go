// Command affected lists the packages that `make quick` tests: the packages that differ from a
// commit, and the packages that import one of them and mention a declaration that the change reaches.
//
//	go run ./.ci/affected COMMIT PACKAGE…    # the packages to choose from, as for go list
//
// Each line has the path of a package, and the word "changed" if the package itself differs.
//
// A change reaches the declarations on the changed lines, each declaration of the package that mentions
// one of them, and so on. A function that is the value of a field belongs to the field: only code that
// reads the field can call it. Three kinds of packages are left to `make test`: packages that import the
// change only in tests, packages that call it only through an interface, and programs, which import
// nearly everything.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// folder is a package as go list describes it.
type folder struct {
	Name, ImportPath, Dir string
	GoFiles, Imports      []string
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "affected:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: affected COMMIT PACKAGE…")
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	edits, err := differences(args[0])
	if err != nil {
		return err
	}
	packages, err := list(args[1:])
	if err != nil {
		return err
	}
	lines, err := affected(root, packages, edits)
	if err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(lines)) {
		fmt.Println(strings.TrimSpace(path + " " + lines[path]))
	}
	return nil
}

// list returns the packages of the patterns.
func list(patterns []string) (packages []folder, err error) {
	out, err := output("go", append([]string{"list", "-json=Name,ImportPath,Dir,GoFiles,Imports"}, patterns...)...)
	if err != nil {
		return nil, err
	}
	for in := json.NewDecoder(bytes.NewReader(out)); in.More(); {
		var f folder
		if err := in.Decode(&f); err != nil {
			return nil, err
		}
		packages = append(packages, f)
	}
	return packages, nil
}

// affected returns the paths of the affected packages, with the word "changed" for packages that differ
// themselves. Edits have paths below root.
func affected(root string, packages []folder, edits map[string]edit) (map[string]string, error) {
	code, err := newModule(packages)
	if err != nil {
		return nil, err
	}
	lines := map[string]string{}
	edited := byPackage(root, packages, edits)
	for path := range edited {
		lines[path] = "changed"
	}
	for path, files := range edited {
		changed, err := code.load(path)
		if err != nil {
			return nil, err
		}
		found := reached(changed, files)
		for _, f := range packages {
			if lines[f.ImportPath] != "" || f.Name == "main" || !slices.Contains(f.Imports, path) {
				continue
			}
			importer, err := code.load(f.ImportPath)
			if err != nil {
				return nil, err
			}
			if importer.mentions(found) {
				lines[f.ImportPath] = " "
			}
		}
	}
	return lines, nil
}

// byPackage returns the edits of each package by the names of the files in its folder. A file in a folder that is no
// package belongs to the package above it. A change of go.mod is one of all packages.
func byPackage(root string, packages []folder, edits map[string]edit) map[string]map[string]edit {
	byDir := map[string]string{}
	edited := map[string]map[string]edit{}
	for _, f := range packages {
		byDir[f.Dir] = f.ImportPath
	}
	for name, e := range edits {
		if name == "go.mod" || name == "go.sum" {
			for _, f := range packages {
				edited[f.ImportPath] = map[string]edit{name: e}
			}
			return edited
		}
		for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
			if path, ok := byDir[filepath.Join(root, dir)]; ok {
				if edited[path] == nil {
					edited[path] = map[string]edit{}
				}
				edited[path][strings.TrimPrefix(name, dir+"/")] = e
				break
			}
		}
	}
	return edited
}

// output returns the standard output of a command.
func output(name string, args ...string) ([]byte, error) {
	command := exec.Command(name, args...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", name, args[0], err)
	}
	return out, nil
}
