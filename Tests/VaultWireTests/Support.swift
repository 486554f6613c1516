import VaultBytes
import VaultWire

/// Parses `text` as a frame.
func frame(_ text: String) throws(FrameError) -> Frame { try frame(Array(text.utf8)) }

func frame(_ bytes: [UInt8]) throws(FrameError) -> Frame { try Frame(parsing: unsafe bytes.span.bytes) }

/// Returns the reason why `bytes` are refused as a frame; nil if they are accepted.
func refusal(_ bytes: [UInt8]) -> FrameError? {
  do {
    _ = try frame(bytes)
    return nil
  } catch {
    return error
  }
}

/// Returns the reason why a value inside an object is refused; nil if it is accepted.
func refusal(ofValue value: String) -> FrameError? { refusal(Array("{\"a\":\(value)}".utf8)) }

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
