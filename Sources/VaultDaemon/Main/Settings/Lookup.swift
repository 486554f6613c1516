internal import Glibc

/// A lookup of one entry in the name service.
enum Lookup {
  /// The first and the largest size of the buffer for an entry's texts, in bytes. A group's entry names all members.
  static let (firstSize, largestSize) = (16 << 10, 64 << 20)

  /// Returns what `body` makes of the entry that `find` has found; nil when there is no such entry.
  ///
  /// - Parameters:
  ///   - empty: the memory for the entry.
  ///   - find: a function such as getgrgid_r(3), which is called with a larger buffer as long as it returns `ERANGE`.
  ///   - body: reads the entry, whose texts are gone after the call.
  static func entry<Entry, R>(
    _ empty: Entry,
    _ find: (
      UnsafeMutablePointer<Entry>, UnsafeMutableBufferPointer<CChar>, UnsafeMutablePointer<UnsafeMutablePointer<Entry>?>
    ) -> Int32, _ body: (Entry) -> R?
  ) -> R? {
    var size = firstSize
    while true {
      var entry = empty
      var found: UnsafeMutablePointer<Entry>?
      var text = [CChar](repeating: 0, count: size)
      var code: Int32 = 0
      let result = unsafe text.withUnsafeMutableBufferPointer { text -> R? in
        code = unsafe find(&entry, text, &found)
        guard code == 0, unsafe found != nil else { return nil }
        return body(entry)
      }
      guard code == ERANGE, size < largestSize else { return result }
      size *= 4
    }
  }
}
