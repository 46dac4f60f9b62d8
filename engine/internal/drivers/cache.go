package drivers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"heddle/engine/file/auxiliary"
	"heddle/engine/file/shared"
)

const (
	// faultAge is the age at which a broken driver is examined again, and goodAge the one of a driver
	// that works.
	faultAge = 10 * time.Minute
	goodAge  = 30 * 24 * time.Hour
	// mostResults bounds the files of the cache. The oldest make room.
	mostResults = 256
)

// driverVariables are the beginnings of the names of variables that change the work of drivers.
var driverVariables = []string{"HEDDLE_OPENCL_", "POCL_", "CUDA_", "NVIDIA_", "GPU_", "AMD_", "ROC", "HIP_", "HSA_", "IGC_", "NEO", "ZE_",
	"RUSTICL_", "MESA_", "LIBGL_", "GALLIUM_", "CLOVER_", "OCLGRIND_", "LD_", "HOME=", "XDG_CACHE_HOME="}

// cache is a folder with a file for each result. Processes may share it. Its key holds all that a
// result depends on.
type cache struct {
	folder string // "": no cache
	common []byte // the part of the keys that all drivers share
}

// openCache returns the cache of the options.
func (o *Options) openCache() cache {
	if o.Cache == "" || len(o.Program) == 0 {
		return cache{}
	}
	program, err := identity(o.Program[0])
	if err != nil {
		return cache{}
	}
	tuning, err := auxiliary.Read(o.Tuning, 1<<20)
	if err != nil && o.Tuning != "" {
		return cache{} // a child reports the error
	}
	var environ []string
	var library []any // that a variable names in place of the loader
	for _, kv := range o.Environ {
		if path, ok := strings.CutPrefix(kv, "HEDDLE_OPENCL_LIBRARY="); ok && path != "" {
			if library, err = identity(path); err != nil {
				return cache{}
			}
		}
		if slices.ContainsFunc(driverVariables, func(p string) bool { return strings.HasPrefix(kv, p) }) {
			environ = append(environ, kv)
		}
	}
	slices.Sort(environ)
	common, err := json.Marshal([]any{program, tuning, environ, library, o.Device})
	if err != nil {
		return cache{}
	}
	return cache{filepath.Join(o.Cache, "drivers"), common}
}

// identity is the path, the size and the time of change of a file behind links.
func identity(path string) ([]any, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return []any{path, info.Size(), info.ModTime().UnixNano()}, nil
}

// path returns the file of the result of a driver.
func (c cache) path(d Driver, test Test) (string, bool) {
	if c.folder == "" {
		return "", false
	}
	var library []any
	if len(d.Files) > 0 {
		var err error
		if library, err = identity(d.Path); err != nil {
			return "", false
		}
	}
	key, err := json.Marshal([]any{d.Library, library, test})
	if err != nil {
		return "", false
	}
	sum := sha256.Sum256(append(key, c.common...))
	return filepath.Join(c.folder, hex.EncodeToString(sum[:])+".json"), true
}

// recall returns the last result of a driver. A result of all devices serves for the preferred ones
// too.
func (c cache) recall(d Driver, test Test) (last Result, found bool) {
	var at time.Time
	for _, t := range slices.Compact([]Test{test, All}) {
		path, ok := c.path(d, t)
		if !ok {
			break
		}
		if r, made, ok := read(path); ok && made.After(at) {
			last, at, found = r, made, true
		}
	}
	last.Driver = d
	return last, found
}

// read reads a result that is not too old.
func read(path string) (r Result, made time.Time, ok bool) {
	info, err := os.Stat(path)
	if err != nil {
		return r, made, false
	}
	data, err := auxiliary.Read(path, 1<<20)
	if err != nil || json.Unmarshal(data, &r) != nil {
		return r, made, false
	}
	most := goodAge
	if r.Fault != "" {
		most = faultAge
	}
	age := time.Since(info.ModTime())
	return r, info.ModTime(), age >= 0 && age <= most
}

// remember keeps a result. A failure costs the next start a child process and nothing else.
func (c cache) remember(r Result, test Test) {
	path, ok := c.path(r.Driver, test)
	if !ok {
		return
	}
	data, err := json.Marshal(r)
	if err == nil {
		err = os.MkdirAll(c.folder, 0o700)
	}
	if err != nil || replace(path, append(data, '\n')) != nil {
		return
	}
	c.trim(mostResults)
}

// trim removes the oldest results above a number.
func (c cache) trim(most int) {
	entries, err := os.ReadDir(c.folder)
	if err != nil || len(entries) <= most {
		return
	}
	var all []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".json") {
			all = append(all, info)
		}
	}
	slices.SortFunc(all, func(x, y fs.FileInfo) int { return y.ModTime().Compare(x.ModTime()) })
	for _, info := range all[min(most, len(all)):] {
		_ = os.Remove(filepath.Join(c.folder, info.Name()))
	}
}

// replace writes a file in one step.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "new-")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = shared.Replace(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// writeFolder makes a folder of small files in parent, whose name follows from the files. It may be
// there already.
func writeFolder(parent string, files map[string]string) (string, error) {
	data, err := json.Marshal(files) // sorts the names
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	folder := filepath.Join(parent, "vendors-"+hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	for name, text := range files {
		if err := replace(filepath.Join(folder, name), []byte(text)); err != nil {
			return "", err
		}
	}
	return folder, nil
}

// CacheFolder returns the folder of files that save time: HEDDLE_CACHE, or heddle in the cache folder
// of the user. It is "" for HEDDLE_CACHE=off, and where the user has no such folder.
func CacheFolder(lookup func(name string) string) string {
	switch folder := lookup("HEDDLE_CACHE"); folder {
	case "off":
		return ""
	case "":
	default:
		return folder
	}
	if lookup("HOME") == "" && lookup("XDG_CACHE_HOME") == "" && lookup("LocalAppData") == "" {
		return ""
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(user, "heddle")
}
