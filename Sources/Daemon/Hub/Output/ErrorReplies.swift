// Answers lines that are wrong: errors are counted, sent to the client, and reported to the log if one is kept.

import GimbalProtocol

final class ErrorReplies {
    private let sender: Sender
    private let turns: Turns
    private let counters: Counters
    private let observer: ClientObserver

    /// The work of an error, whose texts are built for it alone.
    private static let workOfError = 8

    init(_ sender: Sender, _ turns: Turns, _ counters: Counters, _ observer: ClientObserver) {
        (self.sender, self.turns, self.counters, self.observer) = (sender, turns, counters, observer)
    }

    /// Answers a request that failed when it was applied.
    func refuse(_ error: WireError, _ id: Span<UInt8>, about camera: String, to peer: Peer) {
        count(error, camera, of: peer)
        sender.refuse(error, id, to: peer)
    }

    /// Answers every request of a rejected line that can be answered.
    func reject(_ rejection: Rejection, _ text: Span<UInt8>, from peer: Peer) {
        count(rejection.error, peer.lastCamera?.name, of: peer)
        turns.add(work: Self.workOfError * max(rejection.ids.count, 1))
        var isAnswered = false
        for (index, id) in rejection.ids.enumerated() {
            let isWrong = rejection.index.map { $0 == index } ?? (rejection.ids.count == 1)
            guard isWrong || id != nil else { continue }
            let error = isWrong ? rejection.error : rejection.error.ofOtherRequest
            sender.refuse(error, text.extracting(id?.range ?? 0..<0), to: peer)
            isAnswered = true
        }
        if !isAnswered { sender.refuse(rejection.error, Span(), to: peer) }
    }

    private func count(_ error: WireError, _ camera: String?, of peer: Peer) {
        counters.errors += 1
        peer.replay?.lineWasRejected()
        observer.report(.refused(error, line: peer.input.lineNumber, camera: camera), of: peer)
    }
}
