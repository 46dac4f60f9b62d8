package nodes

import "syscall"

// withParent are the attributes of a process that ends with its parent. A signal of the terminal
// reaches only the parent, which drains the process later.
func withParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
