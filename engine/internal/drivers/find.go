package drivers

import (
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Vendors is the folder of .icd files where no variable names another one.
const Vendors = "/etc/OpenCL/vendors"

// hasVendors tells that the loader of OpenCL reads .icd files. Other systems have lists of their own.
const hasVendors = runtime.GOOS == "linux"

// Driver is an OpenCL driver: a library that .icd files name.
type Driver struct {
	Files   []string `json:"files,omitempty"`   // .icd files that name it; none: the system's choice
	Library string   `json:"library,omitempty"` // name of the library in the files
	Path    string   `json:"path,omitempty"`    // "" if there is no such file
}

// String names the driver by its .icd files.
func (d *Driver) String() string {
	if len(d.Files) == 0 {
		return "the OpenCL drivers of the system"
	}
	return strings.Join(d.Files, ", ")
}

// largestICD bounds the text of an .icd file, which holds a path.
const largestICD = 4096

// Files returns the .icd files and libraries that the loader of OpenCL reads, and the variable or
// folder that names them: none where the system has its own list of drivers.
func (s *System) Files() (files []string, from string) {
	if !hasVendors {
		return nil, ""
	}
	files, from = s.Glob(Vendors+"/*.icd"), Vendors
	for _, name := range []string{"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"} {
		value, ok := s.Lookup(name)
		switch {
		case !ok || value == "":
			continue
		case strings.HasSuffix(value, ".icd") || strings.Contains(path.Base(value), ".so"): // a file or a library
			files = []string{value}
		default:
			files = s.Glob(path.Join(value, "*.icd"))
		}
		from = name
	}
	if value, ok := s.Lookup("OCL_ICD_FILENAMES"); ok && value != "" {
		files = slices.Concat(filepath.SplitList(value), files)
	}
	return files, from
}

// Drivers returns the drivers of Files, each once.
func (s *System) Drivers() (all []Driver) {
	files, _ := s.Files()
	var paths []string // paths of all libraries, without links
	for _, file := range files {
		library := file
		if strings.HasSuffix(file, ".icd") {
			library = s.Text(file)
			library, _, _ = strings.Cut(library[:min(len(library), largestICD)], "\n")
			library = strings.TrimSpace(library)
		}
		d := Driver{Files: []string{file}, Library: library}
		real := "" // the path without links
		if library != "" && !strings.ContainsRune(library, 0) {
			if at, ok := s.Library(library); ok {
				d.Path, real = at, s.resolved(at)
			}
		}
		i := slices.IndexFunc(all, func(o Driver) bool { return o.Library == library })
		if i < 0 && real != "" {
			i = slices.Index(paths, real)
		}
		if i >= 0 {
			all[i].Files = append(all[i].Files, file)
			continue
		}
		all, paths = append(all, d), append(paths, real)
	}
	return all
}

// resolved follows links: the names of one library, such as libpocl.so.2 and libpocl.so.2.12.0, are one
// driver.
func (s *System) resolved(path string) string {
	if real, err := filepath.EvalSymlinks(s.At(path)); err == nil {
		return real
	}
	return path
}
