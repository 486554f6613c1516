#if SWIFT_PACKAGE
  import Glibc

  /// The program that repeats the stored inputs of a fuzzer: `store-replay StoreFuzz FILE…`. It prints one line for
  /// each input with its outcome; the first input that fails ends the program with a message. The last line is the most
  /// memory that the program used.
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
      print("KiB", peak())
    }

    /// The most memory that the process used, in KiB. getrusage(2) would include the time before the
    /// process became this program.
    private static func peak() -> Int {
      var text = [UInt8](repeating: 0, count: 4096)
      let file = unsafe open("/proc/self/status", O_RDONLY)
      require(unsafe file >= 0 && read(file, &text, text.count) > 0, "proc(5) cannot be read")
      close(file)
      let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      return Int(line?.filter(\.isNumber) ?? "") ?? .max
    }
  }
#endif
