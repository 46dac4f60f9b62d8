package doctor

import (
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// group returns the name of a group; "" if the machine has none.
func (m *Machine) group(gid int) string {
	for line := range strings.Lines(m.Text("/etc/group")) {
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
	_, pod := m.Lookup("KUBERNETES_SERVICE_HOST")
	return pod || m.Exists("/.dockerenv") || m.Exists("/run/.containerenv")
}
