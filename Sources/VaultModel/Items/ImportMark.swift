/// The keys of the attributes by which an import knows its items again.
///
/// They are true only of the very item that an import has made. A copy of that item, or an item in another vault, is
/// none of that import: it would otherwise be taken back with it.
public enum ImportMark {
  /// The key of the source's own identification, with its format before it.
  public static let source = "source"
  /// The key of the entry's identification in the source.
  public static let id = "source-id"
  /// The key of the name of the field that an item beside the main one holds.
  public static let field = "source-field"
  /// The key of the import's own identification.
  public static let run = "import"
  /// The key of the number of the version that the import has stored as the current one.
  public static let version = "import-version"
  /// The key of the number of the version that an import with `--update` replaced, then of the import that stored that
  /// version, if one did, or, after `before:`, of the one that stored a version before it, and then of what that import
  /// had replaced itself, in the same form.
  public static let replaced = "import-replaced"
  /// The key of the expiry that the item had before that.
  public static let replacedExpiry = "import-replaced-expires"
  /// The key of the kind that the item had before that, if it has another one now.
  public static let replacedKind = "import-replaced-kind"

  /// The keys by which an import is taken back.
  public static let ofRun: Set<String> = [run, version, replaced, replacedExpiry, replacedKind]

  /// The keys without which an item is none of an import. The source alone identifies nothing, and people use its key.
  public static let keys = ofRun.union([id, field])

  /// The attributes that a copy takes over from an item.
  public static func unmarked(_ attributes: [String: String]) -> [String: String] {
    attributes.isEmpty ? attributes : attributes.filter { !keys.contains($0.key) }
  }
}
