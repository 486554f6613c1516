internal import NIOCore
internal import VaultService

/// Asks fprintd (net.reactivated.Fprint) if a finger can open the vault, and which fingers are enrolled. No finger is
/// read here.
enum FingerprintReader {
  private static let service = "net.reactivated.Fprint"
  private static let manager = BusMethod.Object(
    destination: service, path: "/net/reactivated/Fprint/Manager", interface: "net.reactivated.Fprint.Manager")
  private static let limit = TimeAmount.seconds(5)

  /// Asks about the user named `user`; `then` gets the answer within five seconds.
  ///
  /// The bus starts fprintd if necessary. fprintd answers about users other than the caller only if polkit allows it
  /// (`net.reactivated.fprint.device.setusername`).
  static func ask(_ bus: Bus?, for user: String, then: @escaping (Fingers) -> Void) {
    guard let bus else { return then(.noBus) }
    let deadline = NIODeadline.now() + limit
    bus.call(manager.method("GetDevices"), limit: limit) { [weak bus] result in
      let devices: [String]
      do throws(BusError) { devices = try result.get().objectPaths() } catch { return then(answer(to: error)) }
      guard let bus else { return then(answer(to: .disconnected)) }
      guard !devices.isEmpty else { return then(.noReader) }
      let inquiry = Inquiry(devices.count, then)
      for path in devices {
        let device = BusMethod.Object(destination: service, path: path, interface: service + ".Device")
        let rest = max(deadline - .now(), .milliseconds(1))
        bus.call(device.method("ListEnrolledFingers"), [.string(user)], limit: rest) { result in
          inquiry.take(Result { () throws(BusError) in try result.get().strings() })
        }
      }
    }
  }

  private static func answer(to error: BusError) -> Fingers {
    if error == .disconnected { return .noBus }
    if error.isNoService { return .noService }
    switch error.name {
    case "\(service).Error.NoSuchDevice": return .noReader
    case "\(service).Error.NoEnrolledPrints": return .noEnrolledFinger
    default: return .unknown("\(error)")
    }
  }

  /// The readers' answers so far.
  private final class Inquiry {
    private var missing: Int
    private var fingers: Set<String> = []
    private var problem = Fingers.noEnrolledFinger
    private let then: (Fingers) -> Void

    init(_ readers: Int, _ then: @escaping (Fingers) -> Void) {
      missing = readers
      self.then = then
    }

    func take(_ result: Result<[String], BusError>) {
      switch result {
      case .success(let names): fingers.formUnion(names)
      case .failure(let error):
        let answer = answer(to: error)
        if answer != .noEnrolledFinger { problem = answer }
      }
      missing -= 1
      if missing == 0 { then(fingers.isEmpty ? problem : .fingers(fingers.sorted())) }
    }
  }
}
