package container

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// fullCodes are the errors of the system for a disk without room, and for a user above a quota.
var fullCodes = []error{syscall.ENOSPC, windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED}
