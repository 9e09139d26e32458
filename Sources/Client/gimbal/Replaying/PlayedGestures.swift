// The gestures that currently move a camera, from the lines that it is fed, as a recorder receives them.

import GimbalClient

final class PlayedGestures {
    private var decoder = RequestDecoder()
    private var reporter = GestureReporter()
    private var active = ActiveGestures<Void>()

    /// The active kinds, each once, in the order in which they began.
    var kinds: [GestureKind] {
        active.all.map(\.key.kind).reduce(into: []) { kinds, kind in if !kinds.contains(kind) { kinds.append(kind) } }
    }

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
