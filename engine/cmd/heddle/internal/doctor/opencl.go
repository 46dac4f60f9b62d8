package doctor

import (
	"path"
	"slices"
	"strings"

	"heddle/engine/internal/drivers"
)

// loader examines the OpenCL loader. Without a device it is not needed.
func (r *report) loader(needed bool) {
	const name = "OpenCL loader"
	state := Note
	if needed {
		state = Missing
	}
	if own, ok := r.Lookup("HEDDLE_OPENCL_LIBRARY"); ok && own != "" {
		if _, ok := r.Library(own); !ok {
			r.add(state, name, "unset HEDDLE_OPENCL_LIBRARY", "HEDDLE_OPENCL_LIBRARY names %s, which is not there", own)
			return
		}
		r.add(OK, name, "", "%s, from HEDDLE_OPENCL_LIBRARY", own)
		return
	}
	for _, file := range []string{"libOpenCL.so.1", "libOpenCL.so"} {
		if found, ok := r.Library(file); ok {
			r.add(OK, name, "", "%s", found)
			return
		}
	}
	r.add(state, name, r.install("loader"), "no library folder has libOpenCL.so.1")
}

// drivers examines the drivers that .icd files name, and returns the drivers whose libraries exist.
func (r *report) drivers() (found []drivers.Driver) {
	standard := r.Glob(drivers.Vendors + "/*.icd")
	for _, name := range []string{"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"} {
		value, ok := r.Lookup(name)
		if !ok || value == "" {
			continue
		}
		if files, from := r.Files(); from == name && len(files) == 0 && len(standard) > 0 {
			r.add(Missing, "ICD files", "unset "+name, "%s replaces %s by %s, which has no ICD file", name, drivers.Vendors, value)
		} else {
			r.add(Note, "ICD files", "", "%s=%s replaces %s", name, value, drivers.Vendors)
		}
	}
	for _, d := range r.Drivers() {
		if d.Path == "" {
			r.add(Note, "OpenCL driver", "", "%s names %s, which is not there", &d, drivers.Quote(d.Library))
			continue
		}
		r.judge(d)
		found = append(found, d)
	}
	return found
}

// judge examines a driver by the report of the process that has loaded it.
func (r *report) judge(d drivers.Driver) {
	const name = "OpenCL driver"
	i := slices.IndexFunc(r.Report, func(o drivers.Result) bool { return slices.Equal(o.Files, d.Files) })
	if i < 0 {
		r.add(OK, name, "", "%s: %s", &d, d.Path)
		return
	}
	result := &r.Report[i]
	if what := result.Describe(); what != "" {
		r.add(Missing, name, "install the driver again, or remove "+strings.Join(d.Files, " "), "%s (%s)", what, d.Path)
		return
	}
	var names []string
	for _, o := range result.Devices {
		names = append(names, o.Info.Device)
		if o.Error != "" {
			r.add(Missing, name, "", "%s: device %s fails: %s", &d, o.Info.Device, o.Error)
		}
	}
	if names == nil {
		r.add(OK, name, "", "%s: %s, without a device", &d, d.Path)
	} else {
		r.add(OK, name, "", "%s: %s, with %s", &d, d.Path, strings.Join(names, ", "))
	}
	for _, platform := range result.Empty {
		r.empty(platform)
	}
}

// empty examines a platform without a device.
func (r *report) empty(platform string) {
	const name = "OpenCL platform"
	if platform != poclPlatform {
		r.add(Note, name, "", "%s has no device", platform)
		return
	}
	if folder, variable := r.poclCache(); folder == "" {
		r.add(Missing, name, "export POCL_CACHE_DIR=DIR", "%s has no device: it needs a folder for compiled kernels, and neither POCL_CACHE_DIR nor HOME is set", platform)
	} else if err := r.Writable(folder); err != nil {
		r.add(Missing, name, "export POCL_CACHE_DIR=DIR", "%s has no device: it keeps compiled kernels in %s (%s), which cannot be written: %v", platform, folder, variable, err)
	} else {
		r.add(Note, name, "", "%s has no device", platform)
	}
}

const poclPlatform = "Portable Computing Language"

// poclCache returns the folder in which PoCL keeps compiled kernels, and the variable that names it.
func (r *report) poclCache() (folder, variable string) {
	for _, v := range []struct{ name, below string }{{"POCL_CACHE_DIR", ""}, {"XDG_CACHE_HOME", "pocl"}, {"HOME", ".cache/pocl"}} {
		if value, ok := r.Lookup(v.name); ok && value != "" {
			return path.Join(value, v.below), v.name
		}
	}
	return "", ""
}

// of reports whether the library of a driver matches a pattern of file names.
func of(d drivers.Driver, pattern string) bool {
	return strings.HasPrefix(path.Base(d.Path), strings.TrimSuffix(pattern, "*"))
}

// driver examines the OpenCL driver of a vendor.
func (r *report) driver(g gpu, all []drivers.Driver) {
	name := g.vendor + " OpenCL driver"
	for _, pattern := range g.driver {
		if !slices.ContainsFunc(all, func(d drivers.Driver) bool { return of(d, pattern) }) {
			continue
		}
		if pattern != mesa {
			return // listed with its ICD file
		}
		if enabled, ok := r.Lookup("RUSTICL_ENABLE"); !ok || enabled == "" {
			module := map[string]string{"AMD": "radeonsi", "Intel": "iris"}[g.vendor]
			r.add(Missing, name, "export RUSTICL_ENABLE="+module, "rusticl of Mesa shows no device unless RUSTICL_ENABLE names its driver")
		}
		return
	}
	if place, ok := r.Library(g.driver[0]); ok {
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
func (r *report) pocl(all []drivers.Driver) {
	if !slices.ContainsFunc(all, func(d drivers.Driver) bool { return of(d, "libpocl.so*") }) {
		r.add(Note, "PoCL", r.install("PoCL"), "the CPU is no OpenCL device; pure Go uses it without")
	}
}
