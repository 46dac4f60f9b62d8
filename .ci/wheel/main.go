// Command wheel makes a wheel of the Python package and a library of engine/capi. The tags of the file name come from
// the library: its processor, and the newest version of glibc that its symbols need.
//
//	go run ./.ci/wheel LIBRARY VERSION FOLDER [LICENCE...]
package main

import (
	"archive/zip"
	"crypto/sha256"
	"debug/elf"
	"encoding/base64"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const source = "engine/python"

func main() {
	log.SetFlags(0)
	if len(os.Args) < 4 {
		log.Fatal("usage: wheel LIBRARY VERSION FOLDER [LICENCE...]")
	}
	name, err := write(os.Args[1], os.Args[2], os.Args[3], os.Args[4:])
	if err != nil {
		log.Fatal("wheel: ", err)
	}
	fmt.Println(name)
}

// platform is the tag of the systems that can load a library.
func platform(library string) (string, error) {
	f, err := elf.Open(library)
	if err != nil {
		return "", err
	}
	defer f.Close()
	processor := map[elf.Machine]string{elf.EM_X86_64: "x86_64", elf.EM_AARCH64: "aarch64"}[f.Machine]
	if processor == "" {
		return "", fmt.Errorf("%s is for %v", library, f.Machine)
	}
	// The libraries that every system of the tag has (PEP 600).
	common := []string{"libc.so.6", "libpthread.so.0", "libdl.so.2", "libm.so.6", "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
	needed, err := f.ImportedLibraries()
	if err != nil {
		return "", err
	}
	for _, l := range needed {
		if !slices.Contains(common, l) {
			return "", fmt.Errorf("%s needs %s, which a wheel cannot expect", library, l)
		}
	}
	symbols, err := f.ImportedSymbols()
	if err != nil {
		return "", err
	}
	newest := 17 // the oldest one of wheels
	for _, s := range symbols {
		text, is := strings.CutPrefix(s.Version, "GLIBC_2.")
		if !is {
			continue
		}
		text, _, _ = strings.Cut(text, ".")
		minor, err := strconv.Atoi(text)
		if err != nil {
			return "", fmt.Errorf("%s has the version %s", s.Name, s.Version)
		}
		newest = max(newest, minor)
	}
	return fmt.Sprintf("manylinux_2_%d_%s", newest, processor), nil
}

var daily = regexp.MustCompile(`^([0-9.]+)~([0-9]+)\.([0-9a-z]+)$`)

// python is a version in the form of PEP 440. .ci/dist names a commit between releases X~DATE.REVISION.
func python(version string) string { return daily.ReplaceAllString(version, "$1.dev$2+g$3") }

// write makes the wheel in a folder, with files of licences, and returns its name.
func write(library, version, folder string, licences []string) (name string, err error) {
	tag, err := platform(library)
	if err != nil {
		return "", err
	}
	version = python(version)
	info := "heddle-" + version + ".dist-info/"
	name = "heddle-" + version + "-py3-none-" + tag + ".whl"
	readme, err := os.ReadFile(source + "/README.md")
	if err != nil {
		return "", err
	}
	contents := map[string][]byte{
		info + "WHEEL": []byte("Wheel-Version: 1.0\nGenerator: heddle\nRoot-Is-Purelib: false\nTag: py3-none-" + tag + "\n"),
		info + "METADATA": []byte("Metadata-Version: 2.1\nName: heddle\nVersion: " + version + "\nSummary: Exact search of posting lists and bitmap tables\n" +
			"License: Apache-2.0\nRequires-Python: >=3.8\nProvides-Extra: numpy\nRequires-Dist: numpy; extra == \"numpy\"\n" +
			"Provides-Extra: arrow\nRequires-Dist: pyarrow; extra == \"arrow\"\nDescription-Content-Type: text/markdown\n\n" + string(readme)),
	}
	files := map[string]string{"heddle/libheddle.so": library, info + "LICENSE": "LICENSE"}
	for _, path := range licences {
		files[info+filepath.Base(path)] = path
	}
	modules, err := filepath.Glob(source + "/heddle/*.py")
	if err != nil || len(modules) == 0 {
		return "", fmt.Errorf("no modules in %s: %v", source, err)
	}
	for _, m := range append(modules, source+"/heddle/py.typed") {
		files["heddle/"+filepath.Base(m)] = m
	}
	for inside, path := range files {
		if contents[inside], err = os.ReadFile(path); err != nil {
			return "", err
		}
	}
	return name, pack(filepath.Join(folder, name), contents, info+"RECORD")
}

// pack writes the files in the order of their names, and their checksums as the last one.
func pack(path string, contents map[string][]byte, record string) (err error) {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if closed := out.Close(); err == nil {
			err = closed
		}
	}()
	w := zip.NewWriter(out)
	stamp := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
	if epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		stamp = time.Unix(epoch, 0).UTC()
	}
	add := func(name string, data []byte) error {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: stamp}
		header.SetMode(fs.FileMode(0o644))
		to, err := w.CreateHeader(header)
		if err == nil {
			_, err = to.Write(data)
		}
		return err
	}
	var list strings.Builder
	names := make([]string, 0, len(contents))
	for name := range contents {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := add(name, contents[name]); err != nil {
			return err
		}
		sum := sha256.Sum256(contents[name])
		fmt.Fprintf(&list, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(contents[name]))
	}
	list.WriteString(record + ",,\n")
	if err := add(record, []byte(list.String())); err != nil {
		return err
	}
	return w.Close()
}
