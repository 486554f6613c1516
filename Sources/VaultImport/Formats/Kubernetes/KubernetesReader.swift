public import VaultWire

/// The reader of Kubernetes' Secrets (https://kubernetes.io/docs/concepts/configuration/secret/) in YAML or JSON, as
/// `kubectl get secrets -o yaml` writes them or as manifests have them: several documents, lists, or a folder of files.
public enum KubernetesReader: SourceReader {
  public static func recognizes(_ source: Source) -> Bool {
    source.files.contains { file in documents(of: file).contains { isSecret($0) } }
  }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    var (objects, others): ([(file: Source.File, node: YAMLNode)], OtherFiles) = ([], OtherFiles())
    for file in source.files {
      if source.files.count == 1 { _ = try YAMLDocuments.all(file.bytes) }
      let found = documents(of: file).filter { !$0.isNull }
      if found.isEmpty { others.add(file, "it holds no objects of Kubernetes") }
      objects += found.map { (file, $0) }
    }
    let count = objects.count { $0.node["kind"]?.text == "Secret" }
    guard count > 0 else { throw ImportFailure(.unknown, "there is no Secret of Kubernetes") }
    let detail = count == 1 ? "a Secret of Kubernetes" : "\(count) Secrets of Kubernetes"
    try sink.begin(ImportedFormat(name: "kubernetes", detail: detail))
    for (file, object) in objects {
      if object["kind"]?.text == "Secret" {
        for entry in KubernetesSecret(object).entries { try sink.add(entry) }
      } else {
        try sink.add(other(object, file))
      }
    }
    try others.send(into: &sink)
  }

  /// The objects in a file, those in lists included; empty for any other file.
  private static func documents(of file: Source.File) -> [YAMLNode] {
    guard file.mentions("apiVersion"), file.mentions("kind"), let all = try? YAMLDocuments.all(file.bytes) else {
      return []
    }
    return all.flatMap { document -> [YAMLNode] in
      let kind = document["kind"]?.text ?? ""
      return kind == "List" || kind == "SecretList" ? elements(of: document, kind) : [document]
    }
  }

  /// The objects in a list. Those of a SecretList need not say that they are Secrets.
  private static func elements(of list: YAMLNode, _ kind: String) -> [YAMLNode] {
    let elements = list["items"]?.elements ?? []
    guard kind == "SecretList" else { return elements }
    return elements.map { element in
      guard element["kind"] == nil else { return element }
      let key = YAMLNode(content: .scalar(Array("kind".utf8)))
      let secret = YAMLNode(content: .scalar(Array("Secret".utf8)))
      return YAMLNode(content: .mapping(element.members + [YAMLNode.Member(key: key, value: secret)]))
    }
  }

  private static func isSecret(_ object: YAMLNode) -> Bool {
    object["kind"]?.text == "Secret" && (object["data"] != nil || object["stringData"] != nil || object["type"] != nil)
  }

  /// The entry of an object that is no Secret.
  private static func other(_ object: YAMLNode, _ file: Source.File) -> Entry {
    let kind = object["kind"]?.text ?? "unknown object"
    let name = object["metadata"]?["name"]?.text ?? file.name
    var entry = Entry(of: ["kubernetes"], named: "\(kind) \(name)")
    let size = object.leaves.reduce(0) { $0 + ($1.node.bytes?.count ?? 0) }
    entry.refuse(kind, .document, size: size, "it is no Secret")
    return entry
  }
}
