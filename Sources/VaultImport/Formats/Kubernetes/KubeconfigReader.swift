internal import VaultWire

/// The reader of kubeconfig files (kubectl's Config, v1:
/// https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/), one by itself or a folder of them with the keys
/// and certificates beside them.
///
/// A user becomes an item of the folder `kubectl`, in which `vault helper kubectl` finds it.
enum KubeconfigReader: CredentialFile {
  static let format = FileFormat.kubeconfig
  static let detail = "kubeconfig"
  /// The folders in `~/.kube` that kubectl fills again.
  private static let caches: Set = ["cache", "http-cache"]

  static func isNamed(_ file: Source.File) -> Bool { file.folders.contains(".kube") }
  static func isAlike(_ file: Source.File) -> Bool { root(of: file) != nil }
  /// True if one of the files is a kubeconfig: the others are those that it names.
  static func areAlike(_ source: Source) -> Bool { source.files.contains(where: isAlike) }

  static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let configs = source.files.count { isAlike($0) }
    guard configs > 0 else {
      // The error in the only file says more than its unknown form.
      if source.files.count == 1 { throw failure(source.files[0]) }
      throw ImportFailure(.unknown, "no file is a kubeconfig")
    }
    let detail = configs == 1 ? detail : "\(configs) kubeconfig files"
    try sink.begin(ImportedFormat(name: format.rawValue, detail: detail))
    for entry in entries(source.files) { try sink.add(entry) }
  }

  /// Reads the files of `~/.kube`, of which the one that kubectl reads by itself must be right.
  static func read(_ files: [Source.File], into found: inout FoundEntries) throws(ImportFailure) {
    for file in files where file.name == "config" && !isAlike(file) { throw failure(file) }
    // A user's settings are told as those of a kubeconfig by itself.
    for entry in entries(files) { try found.add(entry, isSecret: true) }
  }

  private static func entries(_ files: [Source.File]) -> [Entry] {
    let source = Source(files) { (_) throws(ImportFailure) in nil }
    var (entries, used): ([Entry], Set<String>) = ([], [])
    for file in files {
      guard let root = root(of: file) else { continue }
      used.insert(file.path)
      let account = KubeconfigAccount(root, file, of: source)
      entries += account.entries
      used.formUnion(account.used)
    }
    var others = OtherFiles()
    for file in files where !used.contains(file.path) {
      if isNamed(file), !caches.isDisjoint(with: file.folders) {
        others.addCache(file, "it is a cache, which kubectl fills again")
      } else {
        others.add(file, "no kubeconfig names this file")
      }
    }
    return entries + others.entries
  }

  /// The reason why a file is no kubeconfig.
  private static func failure(_ file: Source.File) -> ImportFailure {
    do throws(ImportFailure) { _ = try YAMLDocuments.only(file.bytes) } catch { return error }
    return ImportFailure(.unknown, "no file is a kubeconfig")
  }

  /// The content of a kubeconfig; nil for any other file.
  private static func root(of file: Source.File) -> YAMLNode? {
    guard file.mentions("users"), let root = try? YAMLDocuments.only(file.bytes), let users = root["users"],
      case .sequence = users.content
    else { return nil }
    let isConfig = root["kind"]?.text == "Config" || root["kind"] == nil && root["contexts"] != nil
    return isConfig ? root : nil
  }
}
