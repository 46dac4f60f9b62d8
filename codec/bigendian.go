//go:build armbe || arm64be || m68k || mips || mips64 || mips64p32 || ppc || ppc64 || s390 || s390x || shbe || sparc || sparc64

package codec

// The words of lists and files are little-endian, and heddle uses them as they lie in memory. A build for a
// big-endian processor ends here.
const _ = heddle_needs_a_little_endian_processor
