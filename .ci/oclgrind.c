// The OpenCL library of the small cases in the search for uninitialised reads: Oclgrind, except
// for four functions.
//
// Oclgrind 21.10 keeps for each word of a buffer whether it was written. It loses this state in
// two cases, and then reports reads of words that were written:
//   - The host writes, copies or fills a part of a buffer. Oclgrind makes the state of the buffer
//     anew, as long as this part, and it is right only for a part at the start of the buffer.
//   - A buffer takes the place of a released one. It inherits the state of that one, and words
//     behind its end count as never written.
// Here a kernel copies such parts, because Oclgrind follows stores of kernels word by word, and no
// buffer is released: the small cases need little memory.
//
// The caller is one thread (HEDDLE_OPENCL_SERIAL=1).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READ_WRITE = 1, ONE_DIRECTION = 2 | 4, BUFFER_SIZE = 0x1102, QUEUE_CONTEXT = 0x1090 }; // of CL/cl.h
typedef int32_t status;
typedef void *object;

// Parameters of the functions that enqueue a command: the events before it, and its own.
#define EVENTS uint32_t waits, const object *wait, object *event
#define EVENT_ARGS waits, wait, event

// CALL calls a function of Oclgrind.
#define CALL(result, name, ...) ((result(*)(__VA_ARGS__))oclgrind(#name))

static void *oclgrind(const char *name) {
    static void *library;
    if (!library)
        library = dlopen("libOpenCL.so", RTLD_NOW); // its name in Oclgrind; already loaded
    void *f = library ? dlsym(library, name) : NULL;
    if (!f) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return f;
}

static void try(status s, const char *action) {
    if (s) {
        fprintf(stderr, "%s: OpenCL error %d\n", action, s);
        exit(1);
    }
}

static object context_of(object queue) {
    object context;
    try(CALL(status, clGetCommandQueueInfo, object, uint32_t, size_t, void *, size_t *)(queue, QUEUE_CONTEXT, sizeof context, &context, NULL), "context");
    return context;
}

static const char *source =
    "__kernel void copy(__global const uint *from, ulong from_at, __global uint *to, ulong to_at, ulong n) {\n"
    "    for (ulong i = 0; i < n; i++)\n"
    "        to[to_at + i] = from[from_at + i];\n"
    "}\n";

// copy_kernel returns the kernel of a context; most calls have the context of the last one.
static object copy_kernel(object context) {
    static object last, kernel;
    if (last == context)
        return kernel;
    status s;
    object program = CALL(object, clCreateProgramWithSource, object, uint32_t, const char **, const size_t *, status *)(context, 1, &source, NULL, &s);
    try(s, "program");
    try(CALL(status, clBuildProgram, object, uint32_t, const object *, const char *, void *, void *)(program, 0, NULL, "", NULL, NULL), "build");
    kernel = CALL(object, clCreateKernel, object, const char *, status *)(program, "copy", &s);
    try(s, "kernel");
    last = context; // which the program keeps
    return kernel;
}

// The buffers of the caller are for both directions: the kernel writes buffers that others only read.
object clCreateBuffer(object context, uint64_t flags, size_t size, void *host, status *s) {
    return CALL(object, clCreateBuffer, object, uint64_t, size_t, void *, status *)(context, (flags & ~ONE_DIRECTION) | READ_WRITE, size, host, s);
}

status clReleaseMemObject(object buffer) { return 0; }

status clEnqueueCopyBuffer(object queue, object from, object to, size_t from_at, size_t to_at, size_t size, EVENTS) {
    if ((from_at | to_at | size) % 4)
        try(-30, "a copy of parts of words");
    object kernel = copy_kernel(context_of(queue));
    uint64_t words[] = {from_at / 4, to_at / 4, size / 4};
    size_t one = 1;
    status (*set)(object, uint32_t, size_t, const void *) = CALL(status, clSetKernelArg, object, uint32_t, size_t, const void *);
    try(set(kernel, 0, sizeof from, &from) | set(kernel, 1, 8, &words[0]) | set(kernel, 2, sizeof to, &to) |
        set(kernel, 3, 8, &words[1]) | set(kernel, 4, 8, &words[2]), "arguments");
    return CALL(status, clEnqueueNDRangeKernel, object, object, uint32_t, const size_t *, const size_t *, const size_t *, EVENTS)(
        queue, kernel, 1, NULL, &one, &one, EVENT_ARGS);
}

status clEnqueueWriteBuffer(object queue, object to, uint32_t blocking, size_t at, size_t size, const void *from, EVENTS) {
    status (*write)(object, object, uint32_t, size_t, size_t, const void *, EVENTS) =
        CALL(status, clEnqueueWriteBuffer, object, object, uint32_t, size_t, size_t, const void *, EVENTS);
    size_t whole;
    try(CALL(status, clGetMemObjectInfo, object, uint32_t, size_t, void *, size_t *)(to, BUFFER_SIZE, sizeof whole, &whole, NULL), "size");
    if (size == whole)
        return write(queue, to, blocking, at, size, from, EVENT_ARGS);
    status s;
    object part = clCreateBuffer(context_of(queue), READ_WRITE, size, NULL, &s);
    try(s, "buffer");
    try(write(queue, part, 1, 0, size, from, 0, NULL, NULL), "write");
    s = clEnqueueCopyBuffer(queue, part, to, 0, at, size, EVENT_ARGS);
    return s || !blocking ? s : CALL(status, clFinish, object)(queue);
}

status clEnqueueFillBuffer(object queue, object to, const void *pattern, size_t width, size_t at, size_t size, EVENTS) {
    char *from = malloc(size);
    for (size_t i = 0; from && i < size; i += width)
        memcpy(from + i, pattern, width);
    status s = from ? clEnqueueWriteBuffer(queue, to, 1, at, size, from, EVENT_ARGS) : -6;
    free(from);
    return s;
}
