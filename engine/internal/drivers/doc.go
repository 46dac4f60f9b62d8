// Package drivers examines the OpenCL drivers of a machine in processes of their own. A driver may
// hang, crash, end the process, print, or change the floating-point mode. A child process loads one
// driver, finds its devices, and builds and tests the kernels on the wanted devices; the parent
// learns how far it came. Good results are kept until the driver, the program or the environment
// changes.
package drivers
