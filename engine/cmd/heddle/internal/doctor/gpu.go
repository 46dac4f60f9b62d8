package doctor

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// gpu is a vendor whose GPUs are on the PCI bus.
type gpu struct {
	vendor string
	pci    string   // number of the vendor
	nodes  []string // patterns of device nodes; each must match
	module string   // name of the module of the kernel
	driver []string // patterns of libraries of its OpenCL drivers
	docker string   // options that give a container its nodes
	hiding []hiding
}

// hiding is a variable that hides devices if it has one of some values, and restricts them
// otherwise.
type hiding struct {
	name   string
	values []string
}

const mesa = "libRusticlOpenCL.so*"

var vendors = []gpu{
	{"NVIDIA", "0x10de", []string{"/dev/nvidia[0-9]*", "/dev/nvidiactl", "/dev/nvidia-uvm"}, "nvidia", []string{"libnvidia-opencl.so*"}, "--gpus all",
		[]hiding{{"CUDA_VISIBLE_DEVICES", []string{"", "-1", "NoDevFiles"}}, {"NVIDIA_VISIBLE_DEVICES", []string{"", "void", "none"}}}},
	{"AMD", "0x1002", []string{"/dev/kfd", "/dev/dri/renderD*"}, "amdgpu", []string{"libamdocl64.so*", mesa}, "--device /dev/kfd --device /dev/dri",
		[]hiding{{"ROCR_VISIBLE_DEVICES", []string{"", "-1"}}, {"GPU_DEVICE_ORDINAL", []string{"", "-1"}}}},
	{"Intel", "0x8086", []string{"/dev/dri/renderD*"}, "i915", []string{"libigdrcl.so*", mesa}, "--device /dev/dri", nil},
}

// gpus returns the vendors of the display controllers and accelerators on the PCI bus.
func (r *report) gpus() (found []gpu) {
	for _, g := range vendors {
		var at []string
		for _, device := range r.Glob("/sys/bus/pci/devices/*") {
			class := r.Text(device + "/class")
			if r.Text(device+"/vendor") == g.pci && (strings.HasPrefix(class, "0x03") || strings.HasPrefix(class, "0x12")) {
				at = append(at, path.Base(device))
			}
		}
		if len(at) > 0 {
			r.add(OK, g.vendor+" GPU", "", "PCI %s", strings.Join(at, " "))
			found = append(found, g)
		}
	}
	return found
}

// gpu examines the device nodes of a vendor.
func (r *report) gpu(g gpu) {
	for _, pattern := range g.nodes {
		nodes := r.Glob(pattern)
		if len(nodes) == 0 {
			r.add(Missing, g.vendor+" device node", r.nodeRepair(g), "no %s", pattern)
		}
		for _, node := range nodes {
			r.node(g, node)
		}
	}
}

// nodeRepair is the command that makes the device nodes of a vendor.
func (r *report) nodeRepair(g gpu) string {
	switch {
	case r.inContainer():
		return "docker run " + g.docker + " …"
	case g.vendor == "NVIDIA" && r.Exists("/sys/module/nvidia"):
		return r.sudo("nvidia-modprobe -u -c 0")
	case g.vendor == "NVIDIA":
		return r.install("nvidia-driver")
	}
	return r.sudo("modprobe " + g.module)
}

// node examines the mode of a device node and the groups of the caller.
func (r *report) node(g gpu, node string) {
	info, err := os.Stat(r.At(node))
	if err != nil {
		r.add(Missing, g.vendor+" device node", r.nodeRepair(g), "%v", err)
		return
	}
	uid, gid := owner(info)
	group := r.group(gid)
	said := fmt.Sprintf("%s %v group %d", node, info.Mode().Perm(), gid)
	if group != "" {
		said += " (" + group + ")"
	}
	err = r.Open(r.At(node))
	if err == nil {
		r.add(OK, g.vendor+" device node", "", "%s", said)
		return
	}
	var repair string
	switch {
	case !refused(err):
		repair = r.nodeRepair(g)
	case r.mayOpen(info.Mode(), uid, gid): // a rule of the container forbids it
		repair = "docker run " + g.docker + " …"
	case slices.Contains(r.Groups, gid) || info.Mode()&0o060 != 0o060:
		repair = r.sudo(fmt.Sprintf("chmod g+rw %s", node))
		if !slices.Contains(r.Groups, gid) {
			repair += "; " + r.join(group, gid)
		}
	default:
		repair = r.join(group, gid)
	}
	r.add(Missing, g.vendor+" device node", repair, "%s, %v", said, err)
	if !r.rights {
		r.rights = true
		r.add(Note, "groups", "", "%s is in the groups %s", r.User, r.groupNames())
	}
}

// join is the command that gives the caller a group.
func (r *report) join(group string, gid int) string {
	if r.inContainer() || group == "" {
		return fmt.Sprintf("docker run --group-add %d …", gid)
	}
	return r.sudo(fmt.Sprintf("usermod -aG %s %s", group, r.User)) + "  # then log in again"
}

func (r *report) groupNames() string {
	var names []string
	for _, gid := range slices.Compact(slices.Sorted(slices.Values(r.Groups))) {
		name := fmt.Sprint(gid)
		if known := r.group(gid); known != "" {
			name += " (" + known + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
