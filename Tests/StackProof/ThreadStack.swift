import CSodium
import Glibc

/// The memory that holds a thread's stack.
enum ThreadStack {
  /// Returns the content of a thread's stack after `body` has run on it. This function allocates the stack itself.
  static func copy(after body: @escaping () -> Void) -> [UInt8] {
    let count = 512 << 10
    let memory = unsafe mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
    defer { unsafe munmap(memory, count) }
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    guard unsafe pthread_attr_setstack(&attributes, memory, count) == 0 else { fatalError("no stack for a thread") }
    var thread = pthread_t()
    let copy = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 16)
    defer { unsafe copy.deallocate() }
    let work = unsafe Unmanaged.passRetained(Work(body, memory, copy, count))
    let failure = unsafe pthread_create(
      &thread, &attributes,
      { argument in
        guard let argument = unsafe argument else { return nil }
        let work = unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
        work.body()
        // Copy the stack before the thread ends: afterwards the kernel may take the memory back.
        unsafe memcpy(work.copy, work.stack, work.count)
        return nil
      }, work.toOpaque())
    guard failure == 0 else { fatalError("pthread_create: \(failure)") }
    pthread_join(thread, nil)
    return unsafe Array(UnsafeRawBufferPointer(start: copy, count: count))
  }

  @safe private final class Work {
    let body: () -> Void
    let stack, copy: UnsafeMutableRawPointer
    let count: Int

    init(_ body: @escaping () -> Void, _ stack: UnsafeMutableRawPointer, _ copy: UnsafeMutableRawPointer, _ count: Int)
    {
      self.body = body
      unsafe self.stack = stack
      unsafe self.copy = copy
      self.count = count
    }
  }

  /// Returns true if one of the 8-byte blocks of `key` stands anywhere in `stack`.
  static func has(_ key: [UInt8], _ stack: [UInt8]) -> Bool {
    let blocks = Set(stride(from: 0, to: key.count - 7, by: 8).map { word(key, $0) })
    return unsafe stack.withUnsafeBytes { bytes in
      for offset in 0..<bytes.count - 7 {
        let word = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        if word != 0, blocks.contains(word) { return true }
      }
      return false
    }
  }

  private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt64 {
    unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
  }
}
