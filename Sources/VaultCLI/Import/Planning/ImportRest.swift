internal import VaultModel
internal import VaultWire

/// The part of a source that an import has not taken, so that only the source has it.
struct ImportRest {
  /// The entries that were left out.
  var entries = 0
  /// The fields of other entries that were refused, or not stored for the item's own history.
  var fields = 0
  /// The files that were not read, or that were refused.
  var files = 0

  /// The numbers in words; nil if the import has taken everything.
  var text: String? {
    let parts = [(entries, "entry"), (fields, "field"), (files, "file")].filter { $0.0 > 0 }
    return parts.isEmpty ? nil : parts.map { Counted.text($0.0, $0.1) }.joined(separator: ", ")
  }
}

extension ImportAccount {
  /// The part of the source that the vault does not get, the files apart.
  var rest: ImportRest {
    var rest = ImportRest()
    for part in parts {
      if part.lines.contains(where: \.isOfEntryLeftOut) {
        rest.entries += 1
      } else {
        let missed = part.lines.filter(\.isMissed)
        let files = missed.count { $0.field.role == .attachment }
        rest.files += files
        rest.fields += missed.count - files
      }
    }
    return rest
  }

  /// The number of values that a person has stored in the source and that were refused, older versions apart.
  var lostValues: Int { parts.reduce(0) { $0 + $1.lines.count(where: \.isLostValue) } }
}

extension ImportAccount.Line {
  fileprivate var isOfEntryLeftOut: Bool {
    switch outcome {
    case .clash, .leftOut: true
    case .refused: isOfNothing
    case .name, .value, .attribute, .beside, .version, .expiry, .known, .history, .setting: false
    }
  }

  /// True for a field with a content of the user's own that was refused, or is not stored for the item's own history.
  fileprivate var isMissed: Bool {
    switch outcome {
    case .refused, .history: field.size > 0
    case .name, .value, .attribute, .beside, .version, .expiry, .known, .clash, .leftOut, .setting: false
    }
  }

  /// True for a refused field whose value an item would have been made for. An earlier value is missed as well, but the
  /// vault keeps only some of them in any case; and of the files, those of another format are none of the source's.
  fileprivate var isLostValue: Bool {
    guard isMissed else { return false }
    return switch field.role {
    case .password, .oneTime, .note, .text, .secret, .username, .url: true
    case .attachment, .document: field.refusal == ImportedField.tooLarge(field.size)
    case .oldPassword, .oldField, .setting, .title, .folder, .identifier, .tag, .created, .modified, .expires: false
    }
  }
}
