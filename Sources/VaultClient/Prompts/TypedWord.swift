package import VaultBytes

extension SecretBuffer {
  /// Returns true for typed text that is this word, perhaps with spaces before and after it. The text is copied
  /// nowhere, because a person may have typed a secret in place of an answer.
  package borrowing func isWord(_ word: String) -> Bool {
    withBytes { bytes in
      let bytes = Span<UInt8>(_bytes: bytes)
      let word = word.utf8.span
      guard let first = bytes.indices.first(where: { bytes[$0] != 0x20 }),
        let last = bytes.indices.last(where: { bytes[$0] != 0x20 })
      else { return word.isEmpty }
      return last - first + 1 == word.count && word.indices.allSatisfy { bytes[first + $0] == word[$0] }
    }
  }
}
