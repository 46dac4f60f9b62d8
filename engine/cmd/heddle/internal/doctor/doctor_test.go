package doctor

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/engine/internal/drivers"
)

// artificial is a machine in a folder, with a caller who owns nothing in it.
type artificial struct {
	*testing.T
	Machine
	gid int // group of all files
}

// newMachine returns a machine with files: a path, and a content after "=". Device nodes have the
// mode 0660, and the group "render".
func newMachine(t *testing.T, files ...string) *artificial {
	t.Helper()
	m := &artificial{T: t, Machine: Machine{System: drivers.System{Root: t.TempDir()}, User: "ann", UID: 54321}}
	m.Open = func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		uid, gid := owner(info)
		if !m.mayOpen(info.Mode(), uid, gid) {
			return &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
		}
		return nil
	}
	m.write(files...)
	info, err := os.Stat(m.Root)
	if err != nil {
		t.Fatal(err)
	}
	_, m.gid = owner(info)
	m.write("/etc/group=root:x:1234567:\nrender:x:" + strconv.Itoa(m.gid) + ":\n")
	return m
}

func (m *artificial) write(files ...string) {
	m.Helper()
	for _, f := range files {
		name, text, _ := strings.Cut(f, "=")
		path := m.At(name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			m.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			m.Fatal(err)
		}
		if strings.HasPrefix(name, "/dev/") {
			m.chmod(name, 0o660)
		}
	}
}

func (m *artificial) chmod(name string, mode os.FileMode) {
	m.Helper()
	if err := os.Chmod(m.At(name), mode); err != nil {
		m.Fatal(err)
	}
}

// wantMissing checks the parts that are missing, as "NAME: start of the repair".
func (m *artificial) wantMissing(what string, want ...string) {
	m.Helper()
	var got []string
	for _, p := range m.Examine() {
		if p.State == Missing {
			got = append(got, p.Name+": "+p.Repair)
		}
	}
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		m.Errorf("%s: missing\n  %s\nwant\n  %s", what, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

const debian = "/etc/os-release=ID=debian\n"

// pci are the files of a device on the bus.
func pci(vendor, class string) []string {
	at := "/sys/bus/pci/devices/0000:01:00." + vendor[len(vendor)-1:]
	return []string{at + "/vendor=" + vendor + "\n", at + "/class=" + class + "\n"}
}

// TestCPU: a machine without GPU misses nothing, with and without OpenCL.
func TestCPU(t *testing.T) {
	m := newMachine(t, append(pci("0x10de", "0x020000"), debian)...) // a network card
	m.wantMissing("nothing installed")
	m.write("/usr/lib/x86_64-linux-gnu/libpocl.so.2.10.0", "/etc/OpenCL/vendors/pocl.icd=libpocl.so.2.10.0\n")
	m.wantMissing("PoCL without a loader", "OpenCL loader: sudo apt-get install ocl-icd-libopencl1")
	m.write("/opt/own/libOpenCL.so.1", "/etc/ld.so.conf.d/own.conf=# ours\n/opt/own\n")
	m.wantMissing("PoCL")
	for _, p := range m.Examine() {
		if p.State == Note && p.Name == "PoCL" {
			t.Errorf("%+v", p)
		}
	}
	m.Environ = []string{"HEDDLE_OPENCL_LIBRARY=/opt/absent.so"}
	m.wantMissing("a wrong library", "OpenCL loader: unset HEDDLE_OPENCL_LIBRARY")
	m.Environ = []string{"OCL_ICD_VENDORS=/opt/icd"}
	m.wantMissing("an empty folder", "ICD files: unset OCL_ICD_VENDORS")
	for _, value := range []string{"/etc/OpenCL/vendors", "/etc/OpenCL/vendors/pocl.icd", "/usr/lib/x86_64-linux-gnu/libpocl.so.2.10.0"} {
		m.Environ = []string{"OCL_ICD_VENDORS=" + value}
		m.wantMissing(value)
	}
}

// TestPoCLCache: PoCL without a folder for compiled kernels has no device, and the reason names the variable.
func TestPoCLCache(t *testing.T) {
	m := newMachine(t, debian, "/usr/lib/x86_64-linux-gnu/libOpenCL.so.1", "/usr/lib/x86_64-linux-gnu/libpocl.so.2", "/etc/OpenCL/vendors/pocl.icd=libpocl.so.2\n")
	m.Report = drivers.Report{{Driver: drivers.Driver{Files: []string{"/etc/OpenCL/vendors/pocl.icd"}}, Empty: []string{poclPlatform}}}
	m.Writable = func(folder string) error {
		if strings.HasPrefix(folder, "/proc/") {
			return &fs.PathError{Op: "open", Path: folder, Err: fs.ErrPermission}
		}
		return nil
	}
	for env, want := range map[string]string{
		"":                                    "neither POCL_CACHE_DIR nor HOME is set",
		"HOME=/proc/x":                        "compiled kernels in /proc/x/.cache/pocl (HOME), which cannot be written",
		"HOME=/home/x POCL_CACHE_DIR=/proc/c": "compiled kernels in /proc/c (POCL_CACHE_DIR), which cannot be written",
		"HOME=/home/x":                        "",
	} {
		m.Environ = strings.Fields(env)
		var got []Part
		for _, p := range m.Examine() {
			if p.Name == "OpenCL platform" && p.State == Missing {
				got = append(got, p)
			}
		}
		if (len(got) > 0) != (want != "") || want != "" && (!strings.Contains(got[0].Found, want) || got[0].Repair != "export POCL_CACHE_DIR=DIR") {
			t.Errorf("with %q: %+v, want %q", env, got, want)
		}
	}
}

// TestNVIDIA repairs a machine step by step.
func TestNVIDIA(t *testing.T) {
	m := newMachine(t, append(pci("0x10de", "0x030200"), debian)...)
	m.wantMissing("bare", "OpenCL loader: sudo apt-get", "NVIDIA device node: sudo apt-get install nvidia-driver", "NVIDIA device node: sudo apt-get install nvidia-driver",
		"NVIDIA device node: sudo apt-get install nvidia-driver", "NVIDIA OpenCL driver: sudo apt-get install nvidia-opencl-icd")
	m.write("/usr/lib/x86_64-linux-gnu/libOpenCL.so.1", "/sys/module/nvidia/version=580\n", "/dev/nvidia0", "/dev/nvidiactl")
	m.chmod("/dev/nvidia0", 0o666)
	m.chmod("/dev/nvidiactl", 0o666)
	m.wantMissing("without unified memory", "NVIDIA device node: sudo nvidia-modprobe -u -c 0", "NVIDIA OpenCL driver: sudo apt-get install nvidia-opencl-icd")
	m.write("/dev/nvidia-uvm", "/usr/lib/x86_64-linux-gnu/libnvidia-opencl.so.1")
	m.chmod("/dev/nvidia-uvm", 0o666)
	m.wantMissing("without ICD file", "NVIDIA OpenCL driver: sudo sh -c 'mkdir -p /etc/OpenCL/vendors && echo /usr/lib/x86_64-linux-gnu/libnvidia-opencl.so.1 > /etc/OpenCL/vendors/nvidia.icd'")
	m.write("/etc/OpenCL/vendors/nvidia.icd=libnvidia-opencl.so.1\n")
	m.wantMissing("complete")
	m.Environ = []string{"CUDA_VISIBLE_DEVICES="}
	m.wantMissing("hidden", "environment: unset CUDA_VISIBLE_DEVICES")
	m.Environ = []string{"CUDA_VISIBLE_DEVICES=0", "NVIDIA_VISIBLE_DEVICES=all"}
	m.wantMissing("restricted")
	if all := m.Examine(); !slices.ContainsFunc(all, func(p Part) bool {
		return p.State == Note && strings.Contains(p.Found, "CUDA_VISIBLE_DEVICES=0 shows only")
	}) {
		t.Errorf("no note: %+v", all)
	}
	m.write("/.dockerenv")
	m.Environ = []string{"NVIDIA_DRIVER_CAPABILITIES=utility"}
	m.wantMissing("container without compute", "environment: docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility")
}

// TestRights: device nodes are refused to callers outside of their group.
func TestRights(t *testing.T) {
	m := newMachine(t, append(pci("0x1002", "0x120000"), debian, "/usr/lib64/libOpenCL.so.1", "/opt/rocm/lib/libamdocl64.so", "/etc/OpenCL/vendors/amd.icd=/opt/rocm/lib/libamdocl64.so",
		"/dev/kfd", "/dev/dri/renderD128", "/dev/dri/card0")...)
	m.Groups = []int{1234567}
	join := "AMD device node: sudo usermod -aG render ann"
	m.wantMissing("outside of the group", join, join)
	all := m.Examine()
	if !slices.ContainsFunc(all, func(p Part) bool { return p.Name == "groups" && p.Found == "ann is in the groups 1234567 (root)" }) ||
		!slices.ContainsFunc(all, func(p Part) bool {
			return strings.HasPrefix(p.Found, "/dev/kfd -rw-rw---- group "+strconv.Itoa(m.gid)+" (render), ")
		}) {
		t.Errorf("%+v", all)
	}
	m.Groups = append(m.Groups, m.gid)
	m.wantMissing("in the group")
	m.chmod("/dev/kfd", 0o600)
	m.wantMissing("a node of the owner alone", "AMD device node: sudo chmod g+rw /dev/kfd")
	m.Groups = nil
	m.wantMissing("the same, outside of the group", "AMD device node: sudo chmod g+rw /dev/kfd; sudo usermod -aG render ann", join)
	m.write("/etc/group=root:x:1234567:\n", "/run/.containerenv")
	m.wantMissing("a container without the group", "AMD device node: sudo chmod g+rw /dev/kfd; docker run --group-add "+strconv.Itoa(m.gid), "AMD device node: docker run --group-add "+strconv.Itoa(m.gid))
	m.UID = 0
	m.wantMissing("root")
	m.Open = func(path string) error { return &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission} }
	m.wantMissing("root, against the rule of the container", "AMD device node: docker run --device /dev/kfd --device /dev/dri", "AMD device node: docker run --device /dev/kfd --device /dev/dri")
}

// TestMesa: rusticl needs a variable.
func TestMesa(t *testing.T) {
	m := newMachine(t, append(pci("0x8086", "0x038000"), "/etc/os-release=NAME=x\nID=\"pop\"\nID_LIKE=\"ubuntu debian\"\n", "/lib/libOpenCL.so.1", "/dev/dri/renderD128")...)
	m.Groups = []int{m.gid}
	m.wantMissing("without driver", "Intel OpenCL driver: sudo apt-get install intel-opencl-icd")
	m.write("/lib/libRusticlOpenCL.so.1.0.0", "/etc/OpenCL/vendors/rusticl.icd=libRusticlOpenCL.so.1.0.0")
	m.wantMissing("rusticl", "Intel OpenCL driver: export RUSTICL_ENABLE=iris")
	m.Environ = []string{"RUSTICL_ENABLE=iris"}
	m.wantMissing("rusticl enabled")
	m.write("/etc/OpenCL/vendors/rusticl.icd=libgone.so")
	m.wantMissing("a driver that is gone", "Intel OpenCL driver: sudo apt-get install intel-opencl-icd")
}

// TestInstall names a package for each part and distribution.
func TestInstall(t *testing.T) {
	for id, want := range map[string]string{"debian": "apt-get install pocl-opencl-icd", "rocky\nID_LIKE=\"rhel centos fedora\"": "dnf install pocl", "arch": "pacman -S pocl", "plan9": "install PoCL"} {
		m := newMachine(t, "/etc/os-release=ID="+id+"\n")
		m.UID = 0
		r := report{Machine: &m.Machine}
		if got := r.install("PoCL"); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
		for part := range unknown {
			if r.install(part) == "" || strings.HasSuffix(r.install(part), " ") {
				t.Errorf("%s: no package for %s", id, part)
			}
		}
	}
}
