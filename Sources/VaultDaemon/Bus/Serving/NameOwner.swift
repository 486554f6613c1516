internal import CSystemd
internal import Glibc
internal import NIOCore

/// The program that owns a well-known name on a bus.
struct NameOwner: Equatable {
  let pid: pid_t
  /// The program's own name for itself, by which people recognize it; nil if it is not known.
  let program: String?

  /// True if this daemon owns the name.
  var isOwn: Bool { pid == getpid() }

  init(_ pid: pid_t) {
    self.pid = pid
    program = Ancestry.of(pid).chain.first
  }

  /// The process and its program, for a sentence.
  var text: String { "process \(pid)" + (program.map { " (\($0))" } ?? "") }
}

extension Bus {
  /// Asks who owns a name; `then` gets nil if nobody does.
  func owner(of name: String, then: @escaping (Result<NameOwner?, BusError>) -> Void) {
    let driver = BusMethod.Object.driver
    call(driver.method("GetConnectionUnixProcessID"), [.string(name)], limit: .seconds(2)) { result in
      do throws(BusError) {
        let pid = try result.get().unsigned()
        then(.success(pid_t(exactly: pid).map { NameOwner($0) }))
      } catch {
        then(error.isNoService ? .success(nil) : .failure(error))
      }
    }
  }

  /// Asks if the bus can start a program for a name.
  func isActivatable(_ name: String, then: @escaping (Result<Bool, BusError>) -> Void) {
    call(BusMethod.Object.driver.method("ListActivatableNames"), limit: .seconds(2)) { result in
      do throws(BusError) { then(.success(try result.get().strings().contains(name))) } catch { then(.failure(error)) }
    }
  }

  /// Has the bus read its configuration and its service files again.
  func reloadServices(then: @escaping () -> Void) {
    call(BusMethod.Object.driver.method("ReloadConfig"), limit: .seconds(5)) { _ in then() }
  }
}
