package doctor

import (
	"slices"
	"strings"
)

// hidden examines the variables that hide the devices of a vendor.
func (r *report) hidden(g gpu) {
	for _, h := range g.hiding {
		value, ok := r.Lookup(h.name)
		switch {
		case !ok || value == "all":
		case slices.Contains(h.values, value):
			r.add(Missing, "environment", "unset "+h.name, "%s=%q hides all GPUs of %s", h.name, value, g.vendor)
		default:
			r.add(Note, "environment", "", "%s=%s shows only these GPUs of %s", h.name, value, g.vendor)
		}
	}
	capabilities, ok := r.Lookup("NVIDIA_DRIVER_CAPABILITIES")
	if g.vendor == "NVIDIA" && ok && r.inContainer() && !strings.Contains(capabilities, "compute") && capabilities != "all" {
		r.add(Missing, "environment", "docker run "+g.docker+" -e NVIDIA_DRIVER_CAPABILITIES=compute,utility …", "NVIDIA_DRIVER_CAPABILITIES=%s leaves out OpenCL", capabilities)
	}
}

// settings notes the variables that restrict the choice among devices.
func (r *report) settings() {
	for _, v := range []struct{ name, effect string }{
		{"HEDDLE_DEVICES_BACKEND", "restricts heddle to a backend"},
		{"HEDDLE_DEVICES_DEVICE", "restricts heddle to devices with this name"},
		{"POCL_DEVICES", "replaces the devices of PoCL"},
	} {
		if value, ok := r.Lookup(v.name); ok && value != "" && value != "auto" {
			r.add(Note, "environment", "", "%s=%s %s", v.name, value, v.effect)
		}
	}
}

// packages are the names of packages by distribution. The first matching family counts.
var packages = []struct {
	family  []string // ID and ID_LIKE of /etc/os-release
	install string
	names   map[string]string
}{
	{[]string{"ubuntu"}, "apt-get install ", map[string]string{"loader": "ocl-icd-libopencl1", "PoCL": "pocl-opencl-icd", "Intel": "intel-opencl-icd", "AMD": "mesa-opencl-icd",
		"NVIDIA": "libnvidia-compute-VERSION", "nvidia-driver": "nvidia-driver-VERSION"}},
	{[]string{"debian"}, "apt-get install ", map[string]string{"loader": "ocl-icd-libopencl1", "PoCL": "pocl-opencl-icd", "Intel": "intel-opencl-icd", "AMD": "mesa-opencl-icd",
		"NVIDIA": "nvidia-opencl-icd", "nvidia-driver": "nvidia-driver"}},
	{[]string{"fedora", "rhel", "centos"}, "dnf install ", map[string]string{"loader": "ocl-icd", "PoCL": "pocl", "Intel": "intel-compute-runtime", "AMD": "rocm-opencl",
		"NVIDIA": "xorg-x11-drv-nvidia-cuda", "nvidia-driver": "akmod-nvidia"}},
	{[]string{"arch"}, "pacman -S ", map[string]string{"loader": "ocl-icd", "PoCL": "pocl", "Intel": "intel-compute-runtime", "AMD": "rocm-opencl-runtime",
		"NVIDIA": "opencl-nvidia", "nvidia-driver": "nvidia"}},
}

// unknown are the commands for other distributions.
var unknown = map[string]string{
	"loader": "install the OpenCL loader (ocl-icd)", "PoCL": "install PoCL", "Intel": "install the compute runtime of Intel", "AMD": "install the OpenCL part of ROCm",
	"NVIDIA": "install the OpenCL part of NVIDIA's driver", "nvidia-driver": "install the driver of NVIDIA",
}

// install is the command that installs a part.
func (r *report) install(part string) string {
	var family []string
	for line := range strings.Lines(r.Text("/etc/os-release")) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && (key == "ID" || key == "ID_LIKE") {
			family = append(family, strings.Fields(strings.Trim(value, `"'`))...)
		}
	}
	for _, p := range packages {
		if slices.ContainsFunc(p.family, func(f string) bool { return slices.Contains(family, f) }) {
			return r.sudo(p.install + p.names[part])
		}
	}
	return unknown[part]
}
