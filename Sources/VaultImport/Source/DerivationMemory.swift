internal import VaultWire

/// The limit for the memory in which the key of an encrypted file is made.
enum DerivationMemory {
  /// Throws if a file asks for more memory than is allowed, with the option that allows as much.
  ///
  /// - Parameters:
  ///   - memory: The bytes of memory that the file asks for.
  ///   - file: The file in words.
  ///   - most: The most bytes that are allowed.
  static func check(_ memory: UInt64, of file: String, most: UInt64) throws(ImportFailure) {
    guard memory > most else { return }
    let asked = "\(file) asks for \(KDBXWords.size(memory)) of memory to make its key"
    guard memory <= ImportCall.kdfMemory.upperBound else {
      let highest = KDBXWords.size(ImportCall.kdfMemory.upperBound)
      throw ImportFailure(.tooLarge, "\(asked), and the highest limit is \(highest)")
    }
    let option = "--kdf-memory \((memory + (1 << 20 - 1)) >> 20)m"
    throw ImportFailure(.tooLarge, "\(asked), and the limit is \(KDBXWords.size(most)); \(option) raises it")
  }
}
