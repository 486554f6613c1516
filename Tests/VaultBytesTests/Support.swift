import VaultBytes

/// Parses `text` as an object.
func object(_ text: String) throws(JSONFault) -> JSONObject { try object(Array(text.utf8)) }

func object(_ bytes: [UInt8]) throws(JSONFault) -> JSONObject { try JSONObject(parsing: unsafe bytes.span.bytes) }

/// Returns the reason why `bytes` are refused as an object; nil if they are accepted.
func refusal(_ bytes: [UInt8]) -> JSONFault? {
  do {
    _ = try object(bytes)
    return nil
  } catch {
    return error
  }
}

/// Returns the reason why a value inside an object is refused; nil if it is accepted.
func refusal(ofValue value: String) -> JSONFault? { refusal(Array("{\"a\":\(value)}".utf8)) }

extension SecretBuffer {
  /// A copy that the tests can compare.
  var array: [UInt8] {
    borrowing get {
      withBytes { bytes in
        let bytes = Span<UInt8>(_bytes: bytes)
        return bytes.indices.map { bytes[$0] }
      }
    }
  }

  var text: String { borrowing get { String(decoding: array, as: UTF8.self) } }

  init(_ bytes: [UInt8]) { self.init(copying: unsafe bytes.span.bytes) }
}

/// Returns the text that `body` writes, without the NUL.
func written(_ body: (inout JSONWriter) -> Void) -> String {
  var writer = JSONWriter()
  body(&writer)
  return writer.take().text
}

/// Returns a value that must not be nil. (`#require` cannot look into a call on a noncopyable value.)
func present<T>(_ value: T?) throws -> T {
  guard let value else { throw Missing() }
  return value
}

struct Missing: Error {}
