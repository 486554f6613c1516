public import VaultWire

/// The reader of kubeconfig files (kubectl's Config, v1:
/// https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/), one by itself or a folder of them with the keys
/// and certificates beside them.
///
/// A user becomes an item of the folder `kubectl`, in which `vault helper kubectl` finds it.
public enum KubeconfigReader: SourceReader {
  public static func recognizes(_ source: Source) -> Bool { source.files.contains { root(of: $0) != nil } }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    var (configs, used): ([(file: Source.File, root: YAMLNode)], Set<String>) = ([], [])
    for file in source.files { if let root = root(of: file) { configs.append((file, root)) } }
    guard !configs.isEmpty else {
      // The error in the only file says more than its unknown form.
      if source.files.count == 1 { _ = try YAMLDocuments.only(source.files[0].bytes) }
      throw ImportFailure(.unknown, "no file is a kubeconfig")
    }
    let detail = configs.count == 1 ? "kubeconfig" : "\(configs.count) kubeconfig files"
    try sink.begin(ImportedFormat(name: "kubeconfig", detail: detail))
    for config in configs {
      used.insert(config.file.path)
      let account = KubeconfigAccount(config.root, config.file, of: source)
      for entry in account.entries { try sink.add(entry) }
      used.formUnion(account.used)
    }
    var others = OtherFiles()
    for file in source.files where !used.contains(file.path) { others.add(file, "no kubeconfig names this file") }
    try others.send(into: &sink)
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
