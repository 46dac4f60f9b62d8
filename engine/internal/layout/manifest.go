package layout

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"heddle/engine/file/auxiliary"
	"heddle/engine/file/container"
	"heddle/engine/file/shared"
)

// ManifestName is the name of the manifest in the folder of its shards.
const ManifestName = "manifest.json"

// ReadManifest reads the manifest at path, which is a file or the folder of the shards, and compares
// its checksum if it has one.
func ReadManifest(path string) (*Map, error) {
	if filepath.Ext(path) != ".json" {
		path = filepath.Join(path, ManifestName)
	}
	data, err := auxiliary.Read(path, MaxBytes)
	if err != nil {
		return nil, err
	}
	m, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, container.ErrCorrupt, err)
	}
	return m, nil
}

// Write writes the map with a checksum to the file at path. The file appears or changes in one step, and outlives
// a loss of power.
func (m *Map) Write(path string) error {
	if err := m.Validate(); err != nil {
		return err
	}
	data, err := auxiliary.Seal(m)
	if err != nil {
		return err
	}
	return auxiliary.Replace(path, data)
}

// Checksum returns the SHA-256 of a file in hexadecimal, and its size in bytes.
func Checksum(path string) (sum string, size uint64, err error) {
	f, err := shared.Open(path)
	if err != nil {
		return "", 0, err
	}
	h := sha256.New()
	n, err := io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), uint64(n), errors.Join(err, f.Close())
}

// Describe returns the description of the file at path, whose name beside the manifest is name.
func Describe(path, name string) (f File, err error) {
	f.File = name
	f.SHA256, f.Bytes, err = Checksum(path)
	return f, err
}
