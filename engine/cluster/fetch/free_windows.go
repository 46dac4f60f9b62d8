package fetch

import "golang.org/x/sys/windows"

// Free returns the number of bytes that a user may still write to the disk of a folder; 0 if it
// is unknown.
func Free(folder string) (free uint64) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil || windows.GetDiskFreeSpaceEx(name, &free, nil, nil) != nil {
		return 0
	}
	return free
}
