internal import VaultBytes

/// The text that a phone reads from a QR code to join a network: `WIFI:T:WPA;S:name;P:passphrase;;`.
///
/// The source is the ZXing project's "Barcode Contents" (https://github.com/zxing/zxing/wiki/Barcode-Contents), which
/// cameras on Android and iOS follow; `T:SAE` for WPA3 comes from Android.
public enum WiFiURI {
  /// Writes the URI to `sink` byte by byte, so that the passphrase is never copied into a string.
  ///
  /// - Parameters:
  ///   - attributes: The attributes of an item of kind `wifi`: `ssid`, optionally `security`
  ///     (default `WPA`) and `hidden=true`.
  ///   - passphrase: The item's value; omitted from the URI for `security=nopass`.
  ///   - sink: Takes each byte, in order.
  /// - Throws: ``ValueError`` if the attributes or the passphrase are not valid for a Wi-Fi network;
  ///   nothing is written then.
  public static func write(
    attributes: [String: String], passphrase: RawSpan, to sink: (UInt8) -> Void
  ) throws(ValueError) {
    let network = try WiFiNetwork(attributes)
    try network.check(passphrase)
    for byte in "WIFI:T:\(network.security.uriType);S:".utf8 { sink(byte) }
    for byte in network.ssid.utf8 { put(byte, sink) }
    if network.security != .nopass {
      for byte in ";P:".utf8 { sink(byte) }
      for offset in passphrase.byteOffsets { put(passphrase.byte(offset), sink) }
    }
    for byte in (network.isHidden ? ";H:true;;" : ";;").utf8 { sink(byte) }
  }

  private static func put(_ byte: UInt8, _ sink: (UInt8) -> Void) {
    switch byte {
    case UInt8(ascii: "\\"), UInt8(ascii: ";"), UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "\""):
      sink(UInt8(ascii: "\\"))
    default: break
    }
    sink(byte)
  }
}
