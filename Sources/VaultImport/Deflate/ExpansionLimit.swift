internal import VaultWire

/// The limit on what compressed bytes may become.
struct ExpansionLimit {
  /// The most bytes that come out.
  var bytes = 1 << 30
  /// The most bytes that come out for each byte that went in. DEFLATE can make 1032 bytes of one, which honest files of
  /// entries never need.
  var ratio = 256
  /// The number of bytes that come out without regard to ``ratio``.
  var free = 16 << 20

  /// Checks that `output` bytes may come out after `input` bytes went in.
  func check(output: Int, input: Int) throws(ImportFailure) {
    guard output <= bytes else {
      throw ImportFailure(.tooLarge, "the compressed data expand to more than \(bytes >> 20) MiB")
    }
    let (most, isBeyond) = input.multipliedReportingOverflow(by: ratio)
    guard output <= free || isBeyond || output <= most else {
      throw ImportFailure(.tooLarge, "the compressed data expand to more than \(ratio) times their size")
    }
  }
}
