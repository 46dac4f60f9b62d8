//go:build !linux

package nodes

import "syscall"

// withParent has no attributes: only Linux ends a process with its parent.
func withParent() *syscall.SysProcAttr { return nil }
