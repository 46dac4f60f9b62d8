package startup

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"heddle/engine/file/auxiliary"
	"heddle/engine/file/shared"
)

// Record is the start-up time of one device with one version of its driver.
type Record struct {
	Device string        `json:"device"`
	Driver string        `json:"driver"`
	Opens  int           `json:"opens"` // measurements
	Open   time.Duration `json:"open_ns"`
}

// Estimate returns the expected start-up time. A single measurement counts as at most
// Default: the first open with a driver compiles the kernels, which the driver caches.
func (r *Record) Estimate() time.Duration {
	switch r.Opens {
	case 0:
		return Default
	case 1:
		return min(r.Open, Default)
	}
	return r.Open
}

// Cache is a file with the start-up times of the devices of a machine. Processes may share
// it: each change replaces the file, and the last one wins.
type Cache struct{ path string }

// NewCache returns the cache in the file at path. The zero Cache is empty and Remember has no effect
// on it.
func NewCache(path string) Cache { return Cache{path} }

// Recall returns the record with the shortest start-up time, so that a command can choose
// before it loads a driver. It returns the zero Record if there is none. A damaged file
// counts as empty.
func (c Cache) Recall() Record {
	all := c.load()
	if len(all) == 0 {
		return Record{}
	}
	return slices.MinFunc(all, func(a, b Record) int { return int(a.Estimate() - b.Estimate()) })
}

// Remember adds a measurement: the record keeps the shortest one. Records of the device with
// other driver versions are removed.
func (c Cache) Remember(device, driver string, took time.Duration) error {
	if c.path == "" {
		return nil
	}
	all := c.load()
	r := Record{Device: device, Driver: driver, Open: took}
	for _, old := range all {
		if old.Device == device && old.Driver == driver {
			r.Opens, r.Open = old.Opens, min(old.Open, took)
		}
	}
	r.Opens++
	all = append(slices.DeleteFunc(all, func(old Record) bool { return old.Device == device }), r)
	data, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		return err
	}
	return replace(c.path, append(data, '\n'))
}

func (c Cache) load() (all []Record) {
	data, err := auxiliary.Read(c.path, 1<<20)
	if err != nil || json.Unmarshal(data, &all) != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(r Record) bool { return r.Opens < 1 || r.Open <= 0 })
}

// replace writes a file under a temporary name and renames it.
func replace(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".startup")
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
