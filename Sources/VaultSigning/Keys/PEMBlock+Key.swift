internal import VaultBytes
internal import VaultCore

extension PEMBlock {
  /// Decodes the block of a private key into secure memory, and lends the bytes.
  func withKey<R: ~Copyable>(
    in text: RawSpan, _ body: (RawSpan) throws(KeyError) -> R
  ) throws(KeyError) -> R {
    var count = 0
    let memory: SecureBytes
    do throws(PEMFault) {
      memory = try SecureBytes(count: PEM.capacity(of: self)) { (room: inout MutableRawSpan) throws(PEMFault) in
        count = try PEM.decode(self, in: text, into: &room)
      }
    } catch { throw .damaged(error.reason) }
    return try memory.withBytes { (bytes: RawSpan) throws(KeyError) in try body(bytes.extracting(first: count)) }
  }
}
