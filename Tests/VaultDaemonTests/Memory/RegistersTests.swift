import Foundation
import Testing
import VaultTesting

/// The positive control of the searches that find nothing in registers.
@Suite("The registers of a process's threads") struct RegistersTests {
  /// A program whose second thread holds 16 bytes in a vector register and nowhere in memory: it computes them there
  /// from other numbers. The thread waits in a system call, as a thread of the daemon waits for work.
  private static let holder = """
    #include <pthread.h>
    #include <unistd.h>

    static volatile int isHeld;

    #define LOAD \\
      "movabsq $0x1122334455667788, %%rax\\n movabsq $0xf0e1d2c3b4a59687, %%rcx\\n xorq %%rcx, %%rax\\n" \\
      "movq %%rax, %%xmm7\\n" \\
      "movabsq $0x99aabbccddeeff00, %%rax\\n movabsq $0x78695a4b3c2d1e0f, %%rcx\\n xorq %%rcx, %%rax\\n" \\
      "movq %%rax, %%xmm8\\n" \\
      "punpcklqdq %%xmm8, %%xmm7\\n pxor %%xmm8, %%xmm8\\n xorl %%eax, %%eax\\n xorl %%ecx, %%ecx\\n"
    /* pause(2), again and again. */
    #define WAIT "movl $1, %0\\n 1: movl $34, %%eax\\n syscall\\n jmp 1b\\n"

    __attribute__((unused)) static void *low(void *none) {
      __asm__ volatile(LOAD WAIT : "=m"(isHeld) : : "rax", "rcx", "r11", "xmm7", "xmm8", "memory");
      return none;
    }

    /* The lower half is cleared, so that the bytes are in the state that AVX adds alone. */
    __attribute__((unused, target("avx"))) static void *high(void *none) {
      __asm__ volatile(LOAD "vperm2f128 $0x08, %%ymm7, %%ymm7, %%ymm7\\n" WAIT
                       : "=m"(isHeld) : : "rax", "rcx", "r11", "xmm7", "xmm8", "memory");
      return none;
    }

    int main(void) {
      pthread_t thread;
      if (pthread_create(&thread, 0, HALF, 0)) return 1;
      while (!isHeld) usleep(1000);
      if (write(3, "r", 1) != 1) return 1;
      for (;;) pause();
    }
    """

  /// Returns true if the processor has the registers that a test needs.
  private static func has(_ flag: String) -> Bool {
    ((try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? "").contains(" \(flag) ")
  }

  @Test(
    "what another thread than the first holds in a vector register is found, in its lower half and in its upper one",
    .enabled(if: MemorySearch.isPossible && has("avx"), "needs root, no sanitizer, and a processor with AVX"),
    arguments: ["low", "high"])
  func held(half: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let program = sandbox.root + "/holder"
    try sandbox.compile(Self.holder, to: program, ["-O2", "-pthread", "-DHALF=\(half)"])
    try sandbox.startDaemon(through: [program])
    let pid = try #require(sandbox.daemonPid)
    let bytes: [UInt64] = [
      0x1122_3344_5566_7788 ^ 0xF0E1_D2C3_B4A5_9687, 0x99AA_BBCC_DDEE_FF00 ^ 0x7869_5A4B_3C2D_1E0F,
    ]
    let secret = bytes.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
    #expect(try MemorySearch(pid: pid).find(secret) == ["raw"])
    // The bytes were only in the register.
    #expect(try MemorySearch(pid: pid, registers: false).find(secret) == [])
  }
}
