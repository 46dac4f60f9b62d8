package cl

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	binaryMagic    = "compiled OpenCL program 1\n"
	binaryLargest  = 64 << 20  // bytes of a binary that is kept
	binaryFolder   = 256 << 20 // bytes of all binaries; the ones that were used longest ago make room
	binaryAbandons = time.Hour // age of an unfinished file whose writer has gone
)

// binaries is the folder of compiled programs. A binary is code that a driver runs, so the folder
// belongs to the caller alone. Processes may share it: a file appears complete.
type binaries struct{ folder string }

// openBinaries returns the folder that HEDDLE_CACHE names, or its default. It reports false if there
// is none, and if users other than the caller may write to it.
func openBinaries() (binaries, bool) {
	base := os.Getenv("HEDDLE_CACHE")
	if base == "off" {
		return binaries{}, false
	}
	if base == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return binaries{}, false
		}
		base = filepath.Join(user, "heddle")
	}
	b := binaries{filepath.Join(base, "programs")}
	if err := os.MkdirAll(b.folder, 0o700); err != nil {
		return binaries{}, false
	}
	info, err := os.Lstat(b.folder)
	return b, err == nil && info.IsDir() && info.Mode().Perm()&0o077 == 0 && isOwn(info)
}

// compilerVariables are the beginnings of the names of environment variables that change the output
// of compilers.
var compilerVariables = []string{"POCL_", "CUDA_", "GPU_", "AMD_", "ROC", "HSA_", "IGC_", "NEO", "RUSTICL_", "CLOVER_", "OCLGRIND_"}

// cacheOfPoCL does not change the output: PoCL keeps its own files there.
const cacheOfPoCL = "POCL_CACHE_DIR="

// includes finds a directive that reads a file, also behind comments and continued lines.
var includes = regexp.MustCompile(`#(\s|\\\n|/\*.*?\*/)*(include|import)`)

// binaryKey names the binary of sources that a device of a driver compiled with options. It reports
// false for sources that include files, whose contents it does not know.
func binaryKey(sources []string, options string, d *Device) (key string, ok bool) {
	if includes.MatchString(strings.Join(sources, "")) {
		return "", false
	}
	h := sha256.New()
	add := func(parts ...string) {
		for _, p := range parts {
			sum := sha256.Sum256([]byte(p))
			h.Write(sum[:])
		}
	}
	add(strconv.Itoa(len(sources)))
	add(sources...)
	add(options, d.Name(), d.Vendor(), d.DriverVersion(), d.Version(), d.Profile(), d.Extensions())
	environ := os.Environ()
	slices.Sort(environ)
	for _, kv := range environ {
		if !strings.HasPrefix(kv, cacheOfPoCL) && slices.ContainsFunc(compilerVariables, func(p string) bool { return strings.HasPrefix(kv, p) }) {
			add(kv)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), true
}

func (b binaries) path(key string) string { return filepath.Join(b.folder, key+".bin") }

// read returns the binary of a key, nil if there is none. It removes a damaged file.
func (b binaries) read(key string) []byte {
	info, err := os.Lstat(b.path(key))
	if err != nil || !info.Mode().IsRegular() || info.Size() > binaryLargest+1024 || !isOwn(info) {
		return nil
	}
	data, err := os.ReadFile(b.path(key))
	if err != nil {
		return nil
	}
	binary, ok := unseal(key, data)
	if !ok {
		b.drop(key)
		return nil
	}
	if now := time.Now(); now.Sub(info.ModTime()) > time.Hour {
		_ = os.Chtimes(b.path(key), now, now) // it is in use: older ones make room before it
	}
	return binary
}

// seal returns the contents of the file of a binary.
func seal(key string, binary []byte) []byte {
	sum := sha256.Sum256(append([]byte(key), binary...))
	return slices.Concat([]byte(binaryMagic), sum[:], binary)
}

// unseal checks the contents of a file and returns its binary.
func unseal(key string, data []byte) (binary []byte, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte(binaryMagic))
	if !ok || len(rest) <= sha256.Size {
		return nil, false
	}
	binary = rest[sha256.Size:]
	return binary, bytes.Equal(seal(key, binary), data)
}

// drop removes a binary that the driver or the checksum refuses.
func (b binaries) drop(key string) { _ = os.Remove(b.path(key)) }

// write keeps a binary, and removes old ones above the limit of the folder. A failure costs the next
// start a compilation and nothing else.
func (b binaries) write(key string, binary []byte) {
	if len(binary) == 0 || len(binary) > binaryLargest {
		return
	}
	f, err := os.CreateTemp(b.folder, "new-") // with mode 0600
	if err != nil {
		return
	}
	_, err = f.Write(seal(key, binary))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), b.path(key))
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return
	}
	b.trim(binaryFolder)
}

// trim removes unfinished files, and the binaries that were used longest ago, until the folder has
// at most the given number of bytes.
func (b binaries) trim(limit int64) {
	entries, err := os.ReadDir(b.folder)
	if err != nil {
		return
	}
	var kept []fs.FileInfo
	total := int64(0)
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil:
		case strings.HasPrefix(e.Name(), "new-"):
			if time.Since(info.ModTime()) > binaryAbandons {
				_ = os.Remove(filepath.Join(b.folder, e.Name()))
			}
		case strings.HasSuffix(e.Name(), ".bin"):
			kept = append(kept, info)
			total += info.Size()
		}
	}
	slices.SortFunc(kept, func(x, y fs.FileInfo) int { return x.ModTime().Compare(y.ModTime()) })
	for _, info := range kept {
		if total <= limit {
			return
		}
		_ = os.Remove(filepath.Join(b.folder, info.Name()))
		total -= info.Size()
	}
}
