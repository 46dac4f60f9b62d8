//go:build unix

package container

import "syscall"

// fullCodes are the errors of the system for a disk without room, and for a user above a quota.
var fullCodes = []error{syscall.ENOSPC, syscall.EDQUOT}
