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

// declareSetup is declare for a function that runs a few times in the life of a device. Drivers load
// libraries and compile in it, so its calls keep the floating-point mode of the thread,
// and the handlers of memory faults.
func declareSetup(name string) *function {
	f := declare(name)
	f.setup = true
	return f
}

var (
	clBuildProgram            = declareSetup("clBuildProgram")
	clCreateBuffer            = declareSetup("clCreateBuffer")
	clCreateCommandQueue      = declareSetup("clCreateCommandQueue")
	clCreateContext           = declareSetup("clCreateContext")
	clCreateKernel            = declareSetup("clCreateKernel")
	clCreateProgramWithBinary = declareSetup("clCreateProgramWithBinary")
	clCreateProgramWithSource = declareSetup("clCreateProgramWithSource")
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
	clGetDeviceIDs            = declareSetup("clGetDeviceIDs")
	clGetDeviceInfo           = declareSetup("clGetDeviceInfo")
	clGetEventProfilingInfo   = declare("clGetEventProfilingInfo")
	clGetKernelInfo           = declare("clGetKernelInfo")
	clGetKernelWorkGroupInfo  = declare("clGetKernelWorkGroupInfo")
	clGetPlatformIDs          = declareSetup("clGetPlatformIDs")
	clGetPlatformInfo         = declareSetup("clGetPlatformInfo")
	clGetProgramBuildInfo     = declareSetup("clGetProgramBuildInfo")
	clGetProgramInfo          = declareSetup("clGetProgramInfo")
	clReleaseCommandQueue     = declare("clReleaseCommandQueue")
	clReleaseContext          = declareSetup("clReleaseContext")
	clReleaseEvent            = declare("clReleaseEvent")
	clReleaseKernel           = declare("clReleaseKernel")
	clReleaseMemObject        = declare("clReleaseMemObject")
	clReleaseProgram          = declareSetup("clReleaseProgram")
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
