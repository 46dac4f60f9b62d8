// An OpenCL library between heddle and the loader of OpenCL, for tests. It keeps to the standard, but
// does what PoCL never does and other drivers may do:
//   poison   new buffers, memory that is mapped for writing alone, and the destinations of reads under way hold
//            noise; memory that was mapped holds noise after it is unmapped, and a buffer before it is freed
//   delay    commands begin some time after they were enqueued, so that a transfer reads and writes
//            memory of the host late, and commands of different queues change their order
//   gpu      devices are GPUs
//   hang=N   the Nth wait and all later ones never return
//   stuck=NAME  no wait returns after a launch of kernel NAME with an offset
//   unread=N  no wait returns after a read of N bytes
//   short=N  buffers above N bytes cannot be allocated
//   units=N, group=N, local=N, alloc=N, memory=N, bits=N, unified=N, multiple=N, available=N, compiler=N
//            what devices say about their compute units, work-items of a work-group, bytes of local memory, of a
//            buffer and of all memory, bits of an address, memory that the host shares, multiple of good work-groups,
//            availability and compiler. Launches and buffers above group, local, alloc and memory fail; with bits=32
//            size_t has 32 bits in the text of kernels, and a launch less than 2^32 work-items. -1 sets all bits
//   kernel=N kernels run in work-groups of N work-items at most
//   taken=N  another process holds N bytes of the memory
//   plain    queues have no properties: neither times nor commands out of order
//   origin   launches begin at the first work-item, whatever their offset
//   no3      vectors of three components do not compile
//   mute     devices have no names, versions and extensions
//   watchdog=N  a launch of more than N milliseconds of processor time loses the device. Launches do not overlap. Each
//            that is longer than all before it is named on standard error
//   processor  the times of launches are processor times, which other processes do not change. Launches do not overlap
// HEDDLE_TEST_LAYER holds such words, separated by spaces. Functions that are not here are those of
// the loader:
//
//	gcc -shared -fPIC -pthread -o layer.so layer.c -Wl,--no-as-needed -l:libOpenCL.so.1
//	HEDDLE_OPENCL_LIBRARY=layer.so HEDDLE_TEST_LAYER="poison delay" …
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int32_t status;
typedef void *object;

enum { DEVICE_TYPE = 0x1000, GPU = 4, READS = 1, HOST_POINTER = 8 | 32 };
enum { ALLOCATION_FAILURE = -4, OUT_OF_RESOURCES = -5, WRONG_PROPERTIES = -35, WRONG_GROUP = -54, WRONG_SIZE = -61, WRONG_GLOBAL_SIZE = -63 };

// NEXT calls a function of the loader.
#define NEXT(result, name, ...) ((result(*)(__VA_ARGS__))next(#name))
static void *next(const char *name) {
	void *f = dlsym(RTLD_NEXT, name);
	if (!f) {
		fprintf(stderr, "layer: %s\n", dlerror());
		_exit(1);
	}
	return f;
}

// word finds a word of HEDDLE_TEST_LAYER by its name.
static const char *word(const char *name) {
	const char *all = getenv("HEDDLE_TEST_LAYER"), *at = all;
	size_t n = strlen(name);
	for (; at && (at = strstr(at, name)); at += n)
		if ((at == all || at[-1] == ' ') && (!at[n] || strchr("= ", at[n])))
			return at;
	return NULL;
}

// value returns N of name=N, or otherwise.
static int64_t value(const char *name, int64_t otherwise) {
	const char *at = word(name);
	return at && at[strlen(name)] == '=' ? strtoll(at + strlen(name) + 1, NULL, 10) : otherwise;
}

// limit is value for the limits of the device; no word means none.
static uint64_t limit(const char *name) { return value(name, -1); }

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// noise fills memory with bytes that are no answer.
static void noise(void *to, size_t n) {
	static _Atomic uint64_t seed = 1;
	uint64_t x = seed += 0x9E3779B97F4A7C15;
	for (; n > 0; n -= n < 8 ? n : 8, to = (char *)to + 8) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		memcpy(to, &x, n < 8 ? n : 8);
	}
}

// Queues of the layer, one for each context.
static struct { object context, queue; } own[1024];

static object queue_of(object context) {
	pthread_mutex_lock(&lock);
	object q = NULL;
	for (int i = 0; i < 1024 && !q; i++)
		if (own[i].context == context)
			q = own[i].queue;
	pthread_mutex_unlock(&lock);
	return q;
}

object clCreateContext(const intptr_t *properties, uint32_t n, const object *devices, void *f, void *user, status *code) {
	object c = NEXT(object, clCreateContext, const intptr_t *, uint32_t, const object *, void *, void *, status *)(properties, n, devices, f, user, code);
	if (!c || !word("poison"))
		return c;
	status s;
	object q = NEXT(object, clCreateCommandQueue, object, object, uint64_t, status *)(c, devices[0], 0, &s);
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 1024; i++)
		if (!own[i].context) {
			own[i].context = c, own[i].queue = q;
			break;
		}
	pthread_mutex_unlock(&lock);
	return c;
}

status clReleaseContext(object c) {
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 1024; i++)
		if (own[i].context == c) {
			NEXT(status, clReleaseCommandQueue, object)(own[i].queue);
			own[i].context = own[i].queue = NULL;
		}
	pthread_mutex_unlock(&lock);
	return NEXT(status, clReleaseContext, object)(c);
}

// Properties of devices by the words that change them.
static const struct { const char *name; uint32_t what; } properties[] = {
	{"units", 0x1002}, {"group", 0x1004}, {"bits", 0x100D}, {"alloc", 0x1010}, {"memory", 0x101F}, {"local", 0x1023},
	{"available", 0x1027}, {"compiler", 0x1028}, {"unified", 0x1035},
};

status clGetDeviceInfo(object d, uint32_t what, size_t room, void *to, size_t *size) {
	size_t n = 0;
	status s = NEXT(status, clGetDeviceInfo, object, uint32_t, size_t, void *, size_t *)(d, what, room, to, &n);
	if ((what >= 0x102B && what <= 0x1030 || what == 0x103D) && word("mute")) {
		n = 1;
		if (to)
			*(char *)to = 0;
	}
	if (size)
		*size = n;
	if (s || !to)
		return s;
	if (what == DEVICE_TYPE && word("gpu"))
		*(uint64_t *)to = GPU;
	for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
		if (what == properties[i].what && word(properties[i].name)) {
			uint64_t v = value(properties[i].name, 0);
			memcpy(to, &v, n); // little-endian
		}
	return s;
}

typedef status (*group_info_t)(object, object, uint32_t, size_t, void *, size_t *);

status clGetKernelWorkGroupInfo(object k, object d, uint32_t what, size_t room, void *to, size_t *size) {
	status s = ((group_info_t)next("clGetKernelWorkGroupInfo"))(k, d, what, room, to, size);
	if (!s && to && what == 0x11B0 && *(size_t *)to > limit("group"))
		*(size_t *)to = limit("group");
	if (!s && to && what == 0x11B0 && *(size_t *)to > limit("kernel"))
		*(size_t *)to = limit("kernel");
	if (!s && to && what == 0x11B3)
		*(size_t *)to = value("multiple", *(size_t *)to);
	return s;
}

object clCreateCommandQueue(object c, object d, uint64_t properties, status *code) {
	if (properties && word("plain")) {
		if (code)
			*code = WRONG_PROPERTIES;
		return NULL;
	}
	return NEXT(object, clCreateCommandQueue, object, object, uint64_t, status *)(c, d, properties, code);
}

object clCreateProgramWithSource(object c, uint32_t n, const char **texts, const size_t *lengths, status *code) {
	if (n != 1 || lengths && lengths[0])
		return NEXT(object, clCreateProgramWithSource, object, uint32_t, const char **, const size_t *, status *)(c, n, texts, lengths, code);
	const char *all[3] = {"", "", texts[0]};
	if (word("no3"))
		all[0] = "#define vload3 NONE\n#define vstore3 NONE\n#define uint3 NONE\n#define int3 NONE\n#define uchar3 NONE\n#define ulong3 NONE\n#define float3 NONE\n";
	if (limit("bits") == 32)
		all[1] = "#define size_t uint\n";
	return NEXT(object, clCreateProgramWithSource, object, uint32_t, const char **, const size_t *, status *)(c, 3, all, NULL, code);
}

typedef status (*write_t)(object, object, uint32_t, size_t, size_t, const void *, uint32_t, const object *, object *);

// spoil writes noise to the beginning and the end of a buffer.
static void spoil(object context, object buffer, size_t bytes) {
	enum { piece = 1 << 17 };
	object q = queue_of(context);
	if (!q)
		return;
	size_t n = bytes < piece ? bytes : piece;
	void *b = malloc(n);
	noise(b, n);
	write_t write = (write_t)next("clEnqueueWriteBuffer");
	write(q, buffer, 1, 0, n, b, 0, NULL, NULL);
	write(q, buffer, 1, bytes - n, n, b, 0, NULL, NULL);
	free(b);
}

static uint64_t in_use; // bytes of buffers on the device

object clCreateBuffer(object c, uint64_t flags, size_t bytes, void *host, status *code) {
	// Memory that the driver takes from the host is not the device's.
	size_t of_device = flags & (HOST_POINTER | 16) ? 0 : bytes;
	status refused = 0;
	pthread_mutex_lock(&lock);
	if (bytes > limit("alloc"))
		refused = WRONG_SIZE;
	else if (bytes > limit("short") || in_use + of_device + value("taken", 0) > limit("memory"))
		refused = ALLOCATION_FAILURE;
	else
		in_use += of_device;
	pthread_mutex_unlock(&lock);
	if (refused) {
		if (code)
			*code = refused;
		return NULL;
	}
	object b = NEXT(object, clCreateBuffer, object, uint64_t, size_t, void *, status *)(c, flags, bytes, host, code);
	if (b && !(flags & HOST_POINTER) && word("poison"))
		spoil(c, b, bytes);
	return b;
}

// clReleaseMemObject spoils a buffer before its last reference goes. PoCL holds references for commands under way.
status clReleaseMemObject(object b) {
	enum { FLAGS = 0x1101, BYTES = 0x1102, REFERENCES = 0x1105, CONTEXT = 0x1106 };
	typedef status (*info_t)(object, uint32_t, size_t, void *, size_t *);
	info_t info = (info_t)next("clGetMemObjectInfo");
	uint32_t references = 0;
	size_t bytes = 0;
	object context = NULL;
	uint64_t flags = 0;
	if (!info(b, FLAGS, sizeof flags, &flags, NULL) && !(flags & (HOST_POINTER | 16)) && !info(b, BYTES, sizeof bytes, &bytes, NULL)) {
		pthread_mutex_lock(&lock);
		in_use -= bytes; // each buffer is released once
		pthread_mutex_unlock(&lock);
	}
	if (word("poison") && !info(b, REFERENCES, sizeof references, &references, NULL) && references == 1 &&
	    !info(b, BYTES, sizeof bytes, &bytes, NULL) && !info(b, CONTEXT, sizeof context, &context, NULL))
		spoil(context, b, bytes);
	return NEXT(status, clReleaseMemObject, object)(b);
}

// rest is a command that takes up to 400 microseconds.
static void rest(void *unused) {
	uint64_t n;
	noise(&n, sizeof n);
	usleep(n % 400);
}

// delay puts a command that takes time into a queue before some of the commands.
static void delay(object queue) {
	uint64_t n;
	noise(&n, sizeof n);
	if (word("delay") && n % 3 == 0)
		NEXT(status, clEnqueueNativeKernel, object, void (*)(void *), void *, size_t, uint32_t, const object *, const void **, uint32_t, const object *, object *)(queue, rest, NULL, 0, 0, NULL, NULL, 0, NULL, NULL);
}

// check returns the error of a launch that the device has no room for.
static status check(object q, object k, uint32_t n, const size_t *global, const size_t *local) {
	size_t group = 1, items = 1;
	for (uint32_t i = 0; i < n; i++)
		items *= global[i], group *= local ? local[i] : 1;
	if (group > limit("group") || group > limit("kernel"))
		return WRONG_GROUP;
	if (limit("bits") == 32 && items >> 32)
		return WRONG_GLOBAL_SIZE;
	object d = NULL;
	uint64_t bytes = 0;
	NEXT(status, clGetCommandQueueInfo, object, uint32_t, size_t, void *, size_t *)(q, 0x1091, sizeof d, &d, NULL);
	((group_info_t)next("clGetKernelWorkGroupInfo"))(k, d, 0x11B2, sizeof bytes, &bytes, NULL);
	return bytes > limit("local") ? OUT_OF_RESOURCES : 0;
}

#define launch NEXT(status, clEnqueueNDRangeKernel, object, object, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t, const object *, object *)

// processor_time returns the microseconds that the other threads of the process have run: this one compiles.
static int64_t processor_time(void) {
	struct timespec all, own;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
	return (all.tv_sec - own.tv_sec) * (int64_t)1000000 + (all.tv_nsec - own.tv_nsec) / 1000;
}

// Times of the last launches, in microseconds: all launches follow each other.
static struct { object event; int64_t start, end; } launches[1 << 16];

static void note(object event, int64_t took) {
	static unsigned at;
	static int64_t clock = 1;
	int i = 0;
	pthread_mutex_lock(&lock);
	while (i < 1 << 16 && launches[i].event != event) // a released event has given its address to this one
		i++;
	if (i == 1 << 16)
		i = at++ % (1 << 16);
	launches[i].event = event, launches[i].start = clock, launches[i].end = clock += took;
	pthread_mutex_unlock(&lock);
}

status clGetEventProfilingInfo(object event, uint32_t what, size_t room, void *to, size_t *size) {
	enum { START = 0x1282, END = 0x1283 };
	status s = NEXT(status, clGetEventProfilingInfo, object, uint32_t, size_t, void *, size_t *)(event, what, room, to, size);
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 1 << 16 && !s && to && launches[i].event; i++)
		if (launches[i].event == event)
			*(uint64_t *)to = what == START ? 1000 * launches[i].start : what == END ? 1000 * launches[i].end : *(uint64_t *)to;
	pthread_mutex_unlock(&lock);
	return s;
}

static volatile int lost;    // the device has been reset
static volatile int stuck;   // its waits never return
static int64_t longest;      // microseconds of a launch

status clEnqueueNDRangeKernel(object q, object k, uint32_t n, const size_t *from, const size_t *global, const size_t *local, uint32_t waits, const object *wait, object *event) {
	delay(q);
	status s = check(q, k, n, global, local);
	if (s)
		return s;
	if (word("origin"))
		from = NULL;
	const char *name = word("stuck");
	if (name && from) {
		char own[64] = "";
		NEXT(status, clGetKernelInfo, object, uint32_t, size_t, void *, size_t *)(k, 0x1190, sizeof own, own, NULL);
		stuck |= !strncmp(name + strlen("stuck="), own, strlen(own));
	}
	if (!word("watchdog") && !word("processor"))
		return launch(q, k, n, from, global, local, waits, wait, event);
	// One launch of the process at a time.
	static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
	status (*finish)(object) = (status(*)(object))next("clFinish");
	pthread_mutex_lock(&alone);
	finish(q);
	int64_t began = processor_time();
	s = lost ? OUT_OF_RESOURCES : launch(q, k, n, from, global, local, waits, wait, event);
	finish(q);
	int64_t took = processor_time() - began;
	if (!s && event && word("processor"))
		note(*event, took);
	if (word("watchdog") && took > longest) {
		char name[64] = "";
		NEXT(status, clGetKernelInfo, object, uint32_t, size_t, void *, size_t *)(k, 0x1190, sizeof name, name, NULL);
		fprintf(stderr, "layer: %.1f ms of %s, %zu work-items\n", (longest = took) / 1e3, name, global[0] * (n > 1 ? global[1] : 1));
	}
	if (word("watchdog") && took > value("watchdog", 0) * 1000) {
		lost = 1;
		s = OUT_OF_RESOURCES;
	}
	pthread_mutex_unlock(&alone);
	return s;
}

// Commands of a device that is lost fail.
status clFlush(object q) { return lost ? OUT_OF_RESOURCES : NEXT(status, clFlush, object)(q); }

status clEnqueueWriteBuffer(object q, object b, uint32_t blocking, size_t at, size_t n, const void *from, uint32_t waits, const object *wait, object *event) {
	delay(q);
	return ((write_t)next("clEnqueueWriteBuffer"))(q, b, blocking, at, n, from, waits, wait, event);
}

status clEnqueueReadBuffer(object q, object b, uint32_t blocking, size_t at, size_t n, void *to, uint32_t waits, const object *wait, object *event) {
	stuck |= n == limit("unread");
	if (!blocking && word("poison") && to)
		noise(to, n < 1 << 17 ? n : 1 << 17);
	delay(q);
	return NEXT(status, clEnqueueReadBuffer, object, object, uint32_t, size_t, size_t, void *, uint32_t, const object *, object *)(q, b, blocking, at, n, to, waits, wait, event);
}

status clEnqueueCopyBuffer(object q, object from, object to, size_t from_at, size_t to_at, size_t n, uint32_t waits, const object *wait, object *event) {
	delay(q);
	return NEXT(status, clEnqueueCopyBuffer, object, object, object, size_t, size_t, size_t, uint32_t, const object *, object *)(q, from, to, from_at, to_at, n, waits, wait, event);
}

status clEnqueueFillBuffer(object q, object b, const void *pattern, size_t size, size_t at, size_t n, uint32_t waits, const object *wait, object *event) {
	delay(q);
	return NEXT(status, clEnqueueFillBuffer, object, object, const void *, size_t, size_t, size_t, uint32_t, const object *, object *)(q, b, pattern, size, at, n, waits, wait, event);
}

// Mapped memory is memory of the layer, as of a device with memory of its own: its contents are noise
// once it is unmapped. It is not reused, so that a late reader finds the noise.
static struct map { object buffer; void *memory; size_t at, bytes; } maps[4096];

void *clEnqueueMapBuffer(object q, object b, uint32_t blocking, uint64_t flags, size_t at, size_t n, uint32_t waits, const object *wait, object *event, status *code) {
	if (!word("poison"))
		return NEXT(void *, clEnqueueMapBuffer, object, object, uint32_t, uint64_t, size_t, size_t, uint32_t, const object *, object *, status *)(q, b, blocking, flags, at, n, waits, wait, event, code);
	void *memory = malloc(n);
	status s = NEXT(status, clEnqueueReadBuffer, object, object, uint32_t, size_t, size_t, void *, uint32_t, const object *, object *)(q, b, 1, at, n, memory, waits, wait, event);
	if (code)
		*code = s;
	if (s) {
		free(memory);
		return NULL;
	}
	if (!(flags & READS))
		noise(memory, n);
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 4096; i++)
		if (!maps[i].memory) {
			maps[i] = (struct map){b, memory, at, n};
			break;
		}
	pthread_mutex_unlock(&lock);
	return memory;
}

status clEnqueueUnmapMemObject(object q, object b, void *memory, uint32_t waits, const object *wait, object *event) {
	struct map m = {0};
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 4096; i++)
		if (maps[i].memory == memory) {
			m = maps[i];
			maps[i].memory = NULL;
			break;
		}
	pthread_mutex_unlock(&lock);
	if (!m.memory)
		return NEXT(status, clEnqueueUnmapMemObject, object, object, void *, uint32_t, const object *, object *)(q, b, memory, waits, wait, event);
	status s = ((write_t)next("clEnqueueWriteBuffer"))(q, b, 1, m.at, m.bytes, memory, waits, wait, event);
	noise(memory, m.bytes);
	if (m.bytes > 1 << 16) // smaller ones stay for late readers
		free(memory);
	return s;
}

static void count_wait(void) {
	static _Atomic long waits;
	long at = value("hang", -1);
	if (at >= 0 && ++waits >= at || stuck)
		for (;;)
			pause();
}

status clWaitForEvents(uint32_t n, const object *events) {
	count_wait();
	return NEXT(status, clWaitForEvents, uint32_t, const object *)(n, events);
}

status clFinish(object q) {
	count_wait();
	return NEXT(status, clFinish, object)(q);
}
