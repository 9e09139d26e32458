// The gestures that move a camera at the moment, of the lines that it is fed, as a recorder is told them.

import GimbalClient
import GimbalProtocol

final class PlayedGestures {
    private var decoder = RequestDecoder()
    private var reporter = GestureReporter()
    private var active = ActiveGestures<Void>()

    /// Each kind once, in the order in which they began.
    var kinds: [GestureKind] {
        active.all.map(\.key.kind).reduce(into: []) { kinds, kind in if !kinds.contains(kind) { kinds.append(kind) } }
    }

    /// Follows a line.
    func follow(_ input: InputLine) {
        for request in (try? decoder.decode(Array(input.line.utf8).span)) ?? [] {
            for report in reporter.reports(of: request, at: input.timeMs) { active.handle(report, ()) }
            switch request.body {
            case .trace(let header): (reporter, active) = (GestureReporter(), ActiveGestures(header.gestures))
            default: active.handle(request.body)
            }
        }
    }
}
