// An OpenCL driver that is broken in the way that HEDDLE_TEST_DRIVER names. It has one platform with
// one GPU, and compiles nothing. Declarations follow the Khronos specification of cl_khr_icd: an
// object begins with a pointer to a table of functions, in a fixed order.
//
//	gcc -shared -fPIC -o driver.so driver.c

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUCCESS = 0, DEVICE_NOT_FOUND = -1, OUT_OF_HOST_MEMORY = -6, BUILD_PROGRAM_FAILURE = -11, INVALID_VALUE = -30, INVALID_OPERATION = -59 };

static int is(const char *mode) {
	const char *m = getenv("HEDDLE_TEST_DRIVER");
	return m && !strcmp(m, mode);
}

// fail hangs, computes for ever, crashes or ends the process if the mode is "hang_WHERE" and so on.
static void fail(const char *where) {
	const char *m = getenv("HEDDLE_TEST_DRIVER");
	const char *at = m ? strchr(m, '_') : NULL;
	if (!at || strcmp(at + 1, where))
		return;
	if (!strncmp(m, "hang", 4))
		for (;;)
			pause();
	if (!strncmp(m, "spin", 4))
		for (volatile int i = 0;; i++)
			;
	if (!strncmp(m, "crash", 5))
		*(volatile int *)0 = 1;
	if (!strncmp(m, "abort", 5))
		abort();
	if (!strncmp(m, "exit", 4))
		exit(7);
}

__attribute__((constructor)) static void load(void) {
	fail("load");
	if (is("print")) {
		printf("banner of the driver\n");
		fflush(stdout);
	}
#ifdef __x86_64__
	if (is("float")) { // subnormal numbers become 0, and results are rounded towards 0
		unsigned mode = __builtin_ia32_stmxcsr();
		__builtin_ia32_ldmxcsr(mode | 0xe040);
	}
#endif
}

enum { functions = 256 };
static void *table[functions];

// Objects. Only the pointer to the table counts.
static void **platform = table, **device = table, **context = table, **queue = table, **program = table;

static int text(const char *s, size_t room, void *to, size_t *size) {
	size_t n = strlen(s) + 1;
	if (to && room < n)
		return INVALID_VALUE;
	if (to)
		memcpy(to, s, n);
	if (size)
		*size = n;
	return SUCCESS;
}

static int number(uint64_t v, size_t bytes, size_t room, void *to, size_t *size) {
	if (to && room < bytes)
		return INVALID_VALUE;
	if (to)
		memcpy(to, &v, bytes);
	if (size)
		*size = bytes;
	return SUCCESS;
}

static int getPlatformIDs(unsigned n, void **to, unsigned *count) {
	fail("platforms");
	if (to && n)
		to[0] = &platform;
	if (count)
		*count = 1;
	return SUCCESS;
}

static int getPlatformInfo(void *p, unsigned what, size_t room, void *to, size_t *size) {
	switch (what) {
	case 0x0900: return text("FULL_PROFILE", room, to, size);
	case 0x0901: return text("OpenCL 1.2 test", room, to, size);
	case 0x0902: return text(is("names") ? "\x1b[31mplatform\n" : "Test platform", room, to, size);
	case 0x0903: return text("Test", room, to, size);
	case 0x0904: return text("cl_khr_icd", room, to, size);
	case 0x0920: return text("TEST", room, to, size);
	}
	return INVALID_VALUE;
}

static int getDeviceIDs(void *p, uint64_t type, unsigned n, void **to, unsigned *count) {
	fail("devices");
	if (is("none") || is("print") || is("float"))
		return DEVICE_NOT_FOUND;
	if (to && n)
		to[0] = &device;
	if (count)
		*count = 1;
	return SUCCESS;
}

static int getDeviceInfo(void *d, unsigned what, size_t room, void *to, size_t *size) {
	switch (what) {
	case 0x102B: return text(is("names") ? "\x1b]0;owned\x07 GPU\xff\nline" : "Test GPU", room, to, size);
	case 0x102C: return text("Test", room, to, size);
	case 0x102D: return text("1.0", room, to, size);
	case 0x102E: return text("FULL_PROFILE", room, to, size);
	case 0x102F: return text("OpenCL 1.2 test", room, to, size);
	case 0x1030: return text("cl_khr_byte_addressable_store", room, to, size);
	case 0x103D: return text("OpenCL C 1.2 ", room, to, size);
	case 0x1000: return number(4, 8, room, to, size);                 // type: GPU
	case 0x1002: return number(8, 4, room, to, size);                 // compute units
	case 0x1003: return number(3, 4, room, to, size);                 // dimensions
	case 0x100D: return number(64, 4, room, to, size);                // bits of an address
	case 0x1004: return number(256, 8, room, to, size);               // largest work-group
	case 0x1010: return number(1 << 28, 8, room, to, size);           // largest buffer
	case 0x101F: return number(1 << 30, 8, room, to, size);           // memory
	case 0x1023: return number(32768, 8, room, to, size);             // local memory
	case 0x1026: case 0x1027: case 0x1028: return number(1, 4, room, to, size); // little-endian, available, has a compiler
	}
	return number(0, room < 8 && to ? room : 8, room, to, size);
}

static void *createContext(const intptr_t *properties, unsigned n, void **devices, void *f, void *user, int *code) {
	fail("context");
	*code = is("error_context") ? OUT_OF_HOST_MEMORY : SUCCESS;
	return *code ? NULL : (void *)&context;
}

static void *createQueue(void *c, void *d, uint64_t properties, int *code) {
	*code = SUCCESS;
	return &queue;
}

static void *createProgram(void *c, unsigned n, const char **texts, const size_t *lengths, int *code) {
	*code = SUCCESS;
	return &program;
}

static int buildProgram(void *p, unsigned n, void **devices, const char *options, void *f, void *user) {
	fail("build");
	return BUILD_PROGRAM_FAILURE;
}

static int getBuildInfo(void *p, void *d, unsigned what, size_t room, void *to, size_t *size) {
	if (what == 0x1181)
		return number((uint64_t)(unsigned)-2, 4, room, to, size); // failed
	return text("test.cl:1:1: error: this compiler compiles nothing", room, to, size);
}

static int done(void *object) { return SUCCESS; }

static int refuse(void) { return INVALID_OPERATION; }

void *clGetExtensionFunctionAddress(const char *name) {
	for (int i = 0; i < functions; i++)
		if (!table[i])
			table[i] = refuse;
	table[0] = getPlatformIDs;
	table[1] = getPlatformInfo;
	table[2] = getDeviceIDs;
	table[3] = getDeviceInfo;
	table[4] = createContext;
	table[6] = table[7] = table[11] = table[29] = done; // retain and release
	table[9] = createQueue;
	table[26] = createProgram;
	table[30] = buildProgram;
	table[33] = getBuildInfo;
	return strcmp(name, "clIcdGetPlatformIDsKHR") ? NULL : (void *)getPlatformIDs;
}

int clGetPlatformInfo(void *p, unsigned what, size_t room, void *to, size_t *size) {
	return getPlatformInfo(p, what, room, to, size);
}
