internal import VaultWire

/// A writer of one format.
///
/// A writer takes entries in the form in which the reader of its format gives them: with the format's own names of
/// fields. `vault` makes them so, because it tells people what a format cannot hold.
protocol EntryWriter {
  /// Writes all entries as one file.
  ///
  /// - Parameter password: The password of the file; nil for a file without one.
  static func write(
    _ entries: [Entry], _ order: ExportOrder, password: [UInt8]?, to output: ExportOutput
  ) throws(ImportFailure)
}

/// The place to which a writer sends the bytes of a file, in their order.
struct ExportOutput {
  /// Takes a part of any size.
  let take: (ArraySlice<UInt8>) throws(ImportFailure) -> Void
}

extension ExportOrder.Format {
  /// The writer of the format.
  var writer: any EntryWriter.Type {
    switch self {
    case .kdbx: KDBXWriter.self
    case .bitwarden: BitwardenWriter.self
    }
  }
}

extension [Field] {
  /// The fields of a role.
  func having(_ roles: ImportedField.Role...) -> [Field] { filter { roles.contains($0.role) } }

  /// The text of the first field of a role, read as Unix seconds; nil if there is none.
  func time(_ role: ImportedField.Role) -> Int64? {
    first { $0.role == role }.flatMap { Int64(String(decoding: $0.value, as: UTF8.self)) }
  }

  /// The earlier values, the oldest first: by their times if all have one, or else as they come.
  var earlier: [Field] {
    let old = having(.oldPassword, .oldField)
    guard old.allSatisfy({ $0.time != nil }) else { return old }
    return old.enumerated().sorted { ($0.element.time ?? 0, $0.offset) < ($1.element.time ?? 0, $1.offset) }
      .map(\.element)
  }
}
