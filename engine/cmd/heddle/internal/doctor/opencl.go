package doctor

import (
	"path"
	"slices"
	"strings"
)

// loader examines the OpenCL loader. Without a device it is not needed.
func (r *report) loader(needed bool) {
	const name = "OpenCL loader"
	state := Note
	if needed {
		state = Missing
	}
	if own, ok := r.lookup("HEDDLE_OPENCL_LIBRARY"); ok && own != "" {
		if _, ok := r.library(own); !ok {
			r.add(state, name, "unset HEDDLE_OPENCL_LIBRARY", "HEDDLE_OPENCL_LIBRARY names %s, which is not there", own)
			return
		}
		r.add(OK, name, "", "%s, from HEDDLE_OPENCL_LIBRARY", own)
		return
	}
	for _, file := range []string{"libOpenCL.so.1", "libOpenCL.so"} {
		if found, ok := r.library(file); ok {
			r.add(OK, name, "", "%s", found)
			return
		}
	}
	r.add(state, name, r.install("loader"), "no library folder has libOpenCL.so.1")
}

// driver is an OpenCL driver that an ICD file names.
type driver struct{ icd, library string }

// drivers returns the drivers of the ICD files whose libraries exist.
func (r *report) drivers() (found []driver) {
	files, from := r.glob("/etc/OpenCL/vendors/*.icd"), "/etc/OpenCL/vendors"
	for _, name := range []string{"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"} {
		value, ok := r.lookup(name)
		if !ok || value == "" {
			continue
		}
		other := []string{value} // an ICD file or a library
		if !strings.HasSuffix(value, ".icd") && !strings.Contains(value, ".so") {
			other = r.glob(path.Join(value, "*.icd"))
		}
		if len(other) == 0 && len(files) > 0 {
			r.add(Missing, "ICD files", "unset "+name, "%s replaces %s by %s, which has no ICD file", name, from, value)
		} else {
			r.add(Note, "ICD files", "", "%s=%s replaces %s", name, value, from)
		}
		files, from = other, value
	}
	for _, icd := range files {
		library := icd
		if strings.HasSuffix(icd, ".icd") {
			library = r.text(icd)
		}
		place, ok := r.library(library)
		if library == "" || !ok {
			r.add(Note, "OpenCL driver", "", "%s names %q, which is not there", icd, library)
			continue
		}
		r.add(OK, "OpenCL driver", "", "%s: %s", icd, place)
		found = append(found, driver{icd, place})
	}
	return found
}

// of reports whether the library of a driver matches a pattern of file names.
func (d driver) of(pattern string) bool {
	return strings.HasPrefix(path.Base(d.library), strings.TrimSuffix(pattern, "*"))
}

// driver examines the OpenCL driver of a vendor.
func (r *report) driver(g gpu, all []driver) {
	name := g.vendor + " OpenCL driver"
	for _, pattern := range g.driver {
		if !slices.ContainsFunc(all, func(d driver) bool { return d.of(pattern) }) {
			continue
		}
		if pattern != mesa {
			return // listed with its ICD file
		}
		if enabled, ok := r.lookup("RUSTICL_ENABLE"); !ok || enabled == "" {
			module := map[string]string{"AMD": "radeonsi", "Intel": "iris"}[g.vendor]
			r.add(Missing, name, "export RUSTICL_ENABLE="+module, "rusticl of Mesa shows no device unless RUSTICL_ENABLE names its driver")
		}
		return
	}
	if place, ok := r.library(g.driver[0]); ok {
		r.add(Missing, name, r.sudo("sh -c 'mkdir -p /etc/OpenCL/vendors && echo "+place+" > /etc/OpenCL/vendors/"+strings.ToLower(g.vendor)+".icd'"), "%s has no ICD file", place)
		return
	}
	if g.vendor == "NVIDIA" && r.inContainer() {
		r.add(Missing, name, "docker run "+g.docker+" -e NVIDIA_DRIVER_CAPABILITIES=compute,utility …", "the container has no %s", g.driver[0])
		return
	}
	r.add(Missing, name, r.install(g.vendor), "no ICD file names a library such as %s", strings.TrimSuffix(g.driver[0], "*"))
}

// pocl examines PoCL, which makes an OpenCL device of the CPU.
func (r *report) pocl(all []driver) {
	if !slices.ContainsFunc(all, func(d driver) bool { return d.of("libpocl.so*") }) {
		r.add(Note, "PoCL", r.install("PoCL"), "the CPU is no OpenCL device; pure Go uses it without")
	}
}
