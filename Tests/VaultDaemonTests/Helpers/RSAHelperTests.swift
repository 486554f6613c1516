import Glibc
import NIOCore
import NIOPosix
import Testing
import VaultCore
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("The helper for large RSA keys") struct RSAHelperTests {
  /// Asks a script that stands in for the helper, and returns its failure once its process is gone.
  private func ask(_ question: RSAQuestion, _ limits: RSAHelper.Limits) throws -> RSAFailure? {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    unsafe symlink(ScriptedHelper.path, sandbox.home + "/vault-rsa")
    // A stopped process ends only if it is killed.
    try sandbox.write("kill -STOP $$; exec sleep 1000\n", to: "script")
    let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    defer { loop.shutdownGracefully { _ in } }
    let (answer, gone) = (loop.makePromise(of: RSAFailure?.self), loop.makePromise(of: Void.self))
    let (home, variables) = (sandbox.home, sandbox.environment)
    let helper = try loop.submit {
      let programs = HelperPrograms(
        loop: loop, watcher: try DescriptorWatcher(loop: loop), ends: HelperEnds(), directory: home,
        variable: { variables[$0] })
      return NIOLoopBound(RSAHelper(programs, limits: limits), eventLoop: loop)
    }.wait()
    loop.execute {
      _ = helper.value.ask(question, key: nil) { result in
        switch result {
        case .success: answer.succeed(nil)
        case .failure(let failure): answer.succeed(failure)
        }
      } gone: {
        gone.succeed()
      }
    }
    let failure = try answer.futureResult.wait()
    try gone.futureResult.wait()
    return failure
  }

  @Test(
    "one that was stopped is ended after the time of its work, and the caller may try again", arguments: [true, false])
  func stopped(makesKey: Bool) throws {
    let limits = RSAHelper.Limits(signature: .seconds(makesKey ? 1000 : 1), key: .seconds(makesKey ? 1 : 1000))
    let question = makesKey ? RSAQuestion.make(bits: 3072, comment: nil) : .check(key: [7])
    #expect(try ask(question, limits) == .unanswered("vault-rsa did not answer within 1 s and was ended"))
  }

  @Test("a signature has less time than a new key, because all others wait for it") func limits() {
    let limits = RSAHelper.Limits()
    #expect(limits.signature == .seconds(60) && limits.key == .seconds(300))
  }
}
