package cl

// functions are the functions of libOpenCL that the package calls. Loading the library
// sets their addresses. Every handle is zero before that, so no method calls one too
// early.
var functions []*function

func declare(name string) *function {
	f := &function{name: name}
	functions = append(functions, f)
	return f
}

var (
	clBuildProgram            = declare("clBuildProgram")
	clCreateBuffer            = declare("clCreateBuffer")
	clCreateCommandQueue      = declare("clCreateCommandQueue")
	clCreateContext           = declare("clCreateContext")
	clCreateKernel            = declare("clCreateKernel")
	clCreateProgramWithSource = declare("clCreateProgramWithSource")
	clCreateUserEvent         = declare("clCreateUserEvent")
	clEnqueueBarrierWithWait  = declare("clEnqueueBarrierWithWaitList")
	clEnqueueCopyBuffer       = declare("clEnqueueCopyBuffer")
	clEnqueueFillBuffer       = declare("clEnqueueFillBuffer")
	clEnqueueMapBuffer        = declare("clEnqueueMapBuffer")
	clEnqueueMarkerWithWait   = declare("clEnqueueMarkerWithWaitList")
	clEnqueueNDRangeKernel    = declare("clEnqueueNDRangeKernel")
	clEnqueueReadBuffer       = declare("clEnqueueReadBuffer")
	clEnqueueUnmapMemObject   = declare("clEnqueueUnmapMemObject")
	clEnqueueWriteBuffer      = declare("clEnqueueWriteBuffer")
	clFinish                  = declare("clFinish")
	clFlush                   = declare("clFlush")
	clGetDeviceIDs            = declare("clGetDeviceIDs")
	clGetDeviceInfo           = declare("clGetDeviceInfo")
	clGetEventProfilingInfo   = declare("clGetEventProfilingInfo")
	clGetKernelInfo           = declare("clGetKernelInfo")
	clGetKernelWorkGroupInfo  = declare("clGetKernelWorkGroupInfo")
	clGetPlatformIDs          = declare("clGetPlatformIDs")
	clGetPlatformInfo         = declare("clGetPlatformInfo")
	clGetProgramBuildInfo     = declare("clGetProgramBuildInfo")
	clReleaseCommandQueue     = declare("clReleaseCommandQueue")
	clReleaseContext          = declare("clReleaseContext")
	clReleaseEvent            = declare("clReleaseEvent")
	clReleaseKernel           = declare("clReleaseKernel")
	clReleaseMemObject        = declare("clReleaseMemObject")
	clReleaseProgram          = declare("clReleaseProgram")
	clSetKernelArg            = declare("clSetKernelArg")
	clSetUserEventStatus      = declare("clSetUserEventStatus")
	clWaitForEvents           = declare("clWaitForEvents")
)

// release gives back the object of a handle once.
func release(f *function, id *uintptr) {
	if *id != 0 {
		f.call(*id)
		*id = 0
	}
}
