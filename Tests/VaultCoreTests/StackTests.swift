import CMemorySearch
import CSodium
import Glibc
import Testing

@testable import VaultCore

@Suite("What is left on a stack", .enabled(if: is_sanitized() == 0, "a sanitizer has stacks of its own"))
struct StackTests {
  /// All of what a thread's stack holds when `body` has run on it. The stack is memory of this function's own.
  private static func stack(after body: @escaping () -> Void) -> [UInt8] {
    let count = 512 << 10
    let memory = unsafe mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
    defer { unsafe munmap(memory, count) }
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    #expect(unsafe pthread_attr_setstack(&attributes, memory, count) == 0)
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
        // Before the thread ends: the kernel may take the stack back then.
        unsafe memcpy(work.copy, work.stack, work.count)
        return nil
      }, work.toOpaque())
    guard failure == 0 else {
      Issue.record("pthread_create: \(failure)")
      return []
    }
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

  /// Whether one of the blocks of 8 bytes of `key` stands anywhere in `stack`.
  private func leaves(_ key: [UInt8], _ stack: [UInt8]) -> Bool {
    let blocks = Set(stride(from: 0, to: key.count - 7, by: 8).map { Self.word(key, $0) })
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

  private static let message = [UInt8](repeating: 7, count: 300)

  @Test("libsodium by itself leaves an Argon2id key there, which is the positive control") func control() throws {
    Sodium.start()
    let salt = [UInt8](repeating: 1, count: 16)
    let stack = Self.stack {
      var key = [UInt8](repeating: 0, count: 32)
      let password: [CChar] = [1, 2, 3, 4]
      _ = unsafe crypto_pwhash(&key, 32, password, 4, salt, 2, 19 << 20, crypto_pwhash_alg_argon2id13())
    }
    let password = unsafe SecureBytes(copying: ([1, 2, 3, 4] as [UInt8]).span.bytes)
    let isLeft = leaves(try Argon2id.derive(password, salt: salt, parameters: .floor).array, stack)
    #expect(isLeft)
  }

  @Test("no call of ours leaves the key that it was given, or made, or the one that stands for it in one message")
  func nothing() throws {
    let key = RandomBytes.array(count: 32)
    func secret() -> SecureBytes { unsafe SecureBytes(copying: key.span.bytes) }
    let message = Self.message
    let salt = [UInt8](repeating: 1, count: 16)
    let sealed = unsafe AEAD.seal(message.span.bytes, key: secret(), associatedData: salt)
    // XChaCha20 computes with a key of its own for each nonce.
    var perMessage = [UInt8](repeating: 0, count: 32)
    _ = unsafe crypto_core_hchacha20(&perMessage, sealed, key, nil)
    let subkey = KDF.subkey(1, context: "a-test--", of: secret()).array
    let root = try Argon2id.derive(secret(), salt: salt, parameters: .floor).array
    let calls: [(String, () -> Void)] = [
      ("Argon2id", { _ = try? Argon2id.derive(secret(), salt: salt, parameters: .floor) }),
      ("KDF", { _ = KDF.subkey(1, context: "a-test--", of: secret()) }),
      ("AEAD seal", { _ = unsafe AEAD.seal(message.span.bytes, key: secret(), associatedData: salt) }),
      ("AEAD open", { _ = try? AEAD.open(unsafe sealed.span.bytes, key: secret(), associatedData: salt) }),
      (
        "AEAD refuse",
        { _ = try? AEAD.open(unsafe sealed.span.bytes, key: secret(), associatedData: unsafe message.span.bytes) }
      ),
      ("hash", { _ = unsafe KeyedHash.hash(message.span.bytes, key: secret(), count: 32) }),
      ("tag", { _ = Tag(domain: 1, "a name", key: secret()) }),
      (
        "stream",
        {
          var sealer = StreamSealer(key: secret())
          var room = [UInt8](repeating: 0, count: 400)
          var span = room.mutableSpan
          var out = unsafe span.mutableBytes
          _ = unsafe sealer.seal(message.span.bytes, isLast: true, associatedData: salt.span.bytes, into: &out)
        }
      ),
      ("sealed box", { _ = SealedBox.publicKey(of: secret()) }),
    ]
    for (name, call) in calls {
      let stack = Self.stack(after: call)
      #expect(!leaves(key, stack), "\(name): the key")
      #expect(!leaves(perMessage, stack), "\(name): the key of the message")
      #expect(!leaves(subkey, stack), "\(name): the subkey")
      #expect(!leaves(root, stack), "\(name): the root")
    }
  }

  @Test("a wipe leaves nothing in the vector registers, and a call that is none leaves what there was")
  func registers() {
    // Without a context, as C calls it.
    let left = vector_registers_left {}
    guard left >= 0 else { return }
    #expect(left > 0)
    let wiped = vector_registers_left { Stack.wipeRegisters() }
    #expect(wiped == 0)
  }
}
