internal import VaultBytes

/// PEM as the check of a value reads it: a fault is an error of the value.
extension PEMBlock {
  /// Returns the next block that starts at or after `offset`, the start of a line; nil if there is none.
  static func next(in text: RawSpan, from offset: Int) throws(ValueError) -> PEMBlock? {
    do throws(PEMFault) { return try PEM.block(in: text, from: offset) } catch {
      throw ValueError(reason: error.reason)
    }
  }

  /// Decodes the block.
  func decoded(in text: RawSpan) throws(ValueError) -> ScratchBytes {
    do throws(PEMFault) { return try PEM.decodeLocked(self, in: text) } catch { throw ValueError(reason: error.reason) }
  }
}
