#if SWIFT_PACKAGE
  import Glibc

  /// Repeats the inputs that were kept of a fuzzer: `store-replay StoreFuzz FILE…`. A line for each says how it ended; the
  /// first one that does not hold ends the program with a message.
  @main
  enum Replay {
    static func main() {
      let arguments = CommandLine.arguments
      for path in arguments.dropFirst(2) {
        let input = Folder.read(path)
        // Bytes have no padding: all are initialized.
        let bytes = unsafe input.span.bytes
        let end = arguments[1] == "RestoreFuzz" ? Stage.shared.restore(bytes) : Stage.shared.run(bytes)
        print(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...], end.rawValue)
      }
    }
  }
#endif
