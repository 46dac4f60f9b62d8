package drivers

import (
	"os"
	"path/filepath"
	"strings"
)

// System is the part of a machine that finds libraries: its files and the environment.
type System struct {
	Root    string   // the folder that stands for /
	Environ []string // NAME=value
}

// At returns the place of a file. Links of an artificial root stay inside of it.
func (s *System) At(name string) string { return filepath.Join(s.Root, name) }

// Text returns the content of a small file without white space around it; "" if there is none.
func (s *System) Text(name string) string {
	b, err := os.ReadFile(s.At(name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// Exists reports whether a file is there. The target of a link outside the root counts.
func (s *System) Exists(name string) bool {
	_, err := os.Lstat(s.At(name))
	return err == nil
}

// Glob returns the names that match a pattern, in order. None match a pattern that is wrong.
func (s *System) Glob(pattern string) (names []string) {
	found, _ := filepath.Glob(s.At(pattern))
	for _, f := range found {
		if name, err := filepath.Rel(s.Root, f); err == nil {
			names = append(names, "/"+name)
		}
	}
	return names
}

// Lookup returns the value of a variable, and whether it is set.
func (s *System) Lookup(name string) (string, bool) {
	for _, kv := range s.Environ {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// linkerFolders returns the folders in which the dynamic linker looks for libraries.
func (s *System) linkerFolders() (folders []string) {
	if path, ok := s.Lookup("LD_LIBRARY_PATH"); ok {
		folders = filepath.SplitList(path)
	}
	for _, conf := range append([]string{"/etc/ld.so.conf"}, s.Glob("/etc/ld.so.conf.d/*.conf")...) {
		for line := range strings.Lines(s.Text(conf)) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "/") {
				folders = append(folders, line)
			}
		}
	}
	for _, standard := range []string{"/lib", "/usr/lib", "/lib64", "/usr/lib64", "/lib/*-linux-gnu", "/usr/lib/*-linux-gnu", "/usr/local/lib"} {
		folders = append(folders, s.Glob(standard)...)
	}
	return folders
}

// Library returns the path of a library by its path or file name, which may be a pattern.
func (s *System) Library(name string) (path string, found bool) {
	if strings.Contains(name, "/") {
		return name, s.Exists(name)
	}
	for _, folder := range s.linkerFolders() {
		if found := s.Glob(filepath.Join(folder, name)); len(found) > 0 {
			return found[0], true
		}
	}
	return "", false
}
