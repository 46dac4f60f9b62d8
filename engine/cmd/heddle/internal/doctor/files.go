package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// path returns the place of a file of the machine. Links of an artificial root stay inside of it.
func (m *Machine) path(name string) string { return filepath.Join(m.Root, name) }

// text returns the content of a small file without white space around it; "" if there is none.
func (m *Machine) text(name string) string {
	b, err := os.ReadFile(m.path(name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// exists reports whether a file is there. The target of a link outside the root counts.
func (m *Machine) exists(name string) bool {
	_, err := os.Lstat(m.path(name))
	return err == nil
}

// glob returns the names that match a pattern, in order.
func (m *Machine) glob(pattern string) (names []string) {
	found, err := filepath.Glob(m.path(pattern))
	if err != nil {
		panic(err) // patterns are constants
	}
	for _, f := range found {
		name, err := filepath.Rel(m.Root, f)
		if err != nil {
			panic(err) // it is below the root
		}
		names = append(names, "/"+name)
	}
	return names
}

// linkerFolders returns the folders in which the dynamic linker looks for libraries.
func (m *Machine) linkerFolders() (folders []string) {
	if path, ok := m.lookup("LD_LIBRARY_PATH"); ok {
		folders = filepath.SplitList(path)
	}
	for _, conf := range append([]string{"/etc/ld.so.conf"}, m.glob("/etc/ld.so.conf.d/*.conf")...) {
		for line := range strings.Lines(m.text(conf)) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "/") {
				folders = append(folders, line)
			}
		}
	}
	for _, standard := range []string{"/lib", "/usr/lib", "/lib64", "/usr/lib64", "/lib/*-linux-gnu", "/usr/lib/*-linux-gnu", "/usr/local/lib"} {
		folders = append(folders, m.glob(standard)...)
	}
	return folders
}

// library returns the path of a library by its path or file name, which may be a pattern.
func (r *report) library(name string) (string, bool) {
	if strings.HasPrefix(name, "/") {
		return name, r.exists(name)
	}
	for _, folder := range r.libraries {
		if found := r.glob(filepath.Join(folder, name)); len(found) > 0 {
			return found[0], true
		}
	}
	return "", false
}

// group returns the name of a group; "" if the machine has none.
func (m *Machine) group(gid int) string {
	for line := range strings.Lines(m.text("/etc/group")) {
		if f := strings.Split(strings.TrimSpace(line), ":"); len(f) > 2 && f[2] == strconv.Itoa(gid) {
			return f[0]
		}
	}
	return ""
}

// mayOpen reports whether the mode of a node lets the caller read and write.
func (m *Machine) mayOpen(mode fs.FileMode, uid, gid int) bool {
	switch {
	case m.UID == 0:
		return true
	case uid == m.UID:
		return mode&0o600 == 0o600
	case slices.Contains(m.Groups, gid):
		return mode&0o060 == 0o060
	}
	return mode&0o006 == 0o006
}

// refused reports whether an error is a lack of rights.
func refused(err error) bool { return errors.Is(err, fs.ErrPermission) }

// inContainer reports whether the machine is a container.
func (m *Machine) inContainer() bool {
	_, pod := m.lookup("KUBERNETES_SERVICE_HOST")
	return pod || m.exists("/.dockerenv") || m.exists("/run/.containerenv")
}
