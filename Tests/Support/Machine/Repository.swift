public import Foundation

/// The repository of the tests that run: its files that tests compare with, run, or read as inputs.
public enum Repository {
  /// The top folder. The compiler knows the path of this file, which is Tests/Support/Machine/Repository.swift.
  public static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// Returns the kept inputs of a fuzzer, sorted by their names. An input that a fuzzing run added has a hash as its
  /// name.
  public static func corpus(of fuzzer: String) throws -> [(name: String, bytes: [UInt8])] {
    let folder = root.appending(path: "Tests/Fuzz/Corpus/\(fuzzer)")
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
      (name, [UInt8](try Data(contentsOf: folder.appending(path: name))))
    }
  }

  /// Returns the kept inputs of a fuzzer whose target takes text. An input that a fuzzing run added may be anything. An
  /// input that is not text is left out, because it is refused before parsing.
  public static func texts(of fuzzer: String) throws -> [(name: String, text: String)] {
    try corpus(of: fuzzer).compactMap { name, bytes in
      String(validating: bytes, as: UTF8.self).map { (name, $0) }
    }
  }
}
