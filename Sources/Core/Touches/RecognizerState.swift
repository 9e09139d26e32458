// What a recognizer knows, number by number, so that another process can go on where this one stops. One walk both reads
// and writes, so the two cannot differ. A tag keeps its meaning for ever: a later version reads what this one wrote.

import Gestures
import MapCamera

/// What a number of a recognizer's state is.
package enum RecognizerTag: UInt16 {
    case time = 1
    /// Until when the map may go on.
    case glideEnd = 2
    /// Of each finger its id, where it landed and where it is: five numbers.
    case fingers = 3
    case moved = 4
    case smallestSpan = 5
    /// Since when one finger leads in a tilt; none is no number.
    case leadsSince = 6
    /// 0 while it is undecided; then 1 is a pan, 2 pan, pinch and rotation, 3 a tilt, 4 a one-finger zoom.
    case meaning = 7
    case origin = 8
    case tilted = 9
    /// What the map is behind by, how far the fingers had come, and which part of it remains.
    case slack = 10
    /// Bits in the order of `pan`, `pinch`, `rotate`, `tilt`, `one-finger-zoom`.
    case active = 11
    case panBefore = 12
    /// As a `NumberList` has a `SampleWindow`.
    case path = 13
    case pinches = 14
    /// Of the fingers that may tap: since when, where, the most at one time, whether it may be a tap, and where the tap was
    /// that went before it.
    case session = 15
    /// When and where a finger tapped last.
    case lastTap = 16
}

/// Reads or writes the numbers of a state. What is not there leaves them as they are.
package protocol StateVisitor {
    mutating func visit(_ numbers: inout [Double], _ tag: RecognizerTag)
}

extension StateVisitor {
    fileprivate mutating func visit(_ number: inout Double, _ tag: RecognizerTag) {
        var numbers = [number]
        visit(&numbers, tag)
        number = numbers.first ?? number
    }

    fileprivate mutating func visit(_ movement: inout Movement, _ tag: RecognizerTag) {
        var numbers = movement.numbers
        visit(&numbers, tag)
        movement = Movement(numbers)
    }

    fileprivate mutating func visit(_ samples: inout SampleWindow, _ tag: RecognizerTag) {
        var list = NumberList()
        samples.write(to: &list)
        var numbers = list.numbers
        visit(&numbers, tag)
        var reader = NumberReader(numbers)
        let read = SampleWindow(&reader)
        samples = reader.isDamaged ? SampleWindow() : read
    }
}

extension GestureRecognizer {
    /// How many bytes it takes beside its own size, roughly.
    var byteCount: Int { path.byteCount + pinches.byteCount + grip.fingers.count * MemoryLayout<Grip.Finger>.stride }

    /// Has all that it knows read or written.
    package mutating func visit(_ visitor: inout some StateVisitor) {
        visitor.visit(&time, .time)
        visitor.visit(&glideEnd, .glideEnd)
        var fingers = grip.fingers.flatMap {
            [Double($0.id), $0.start.x, $0.start.y, $0.position.x, $0.position.y]
        }
        visitor.visit(&fingers, .fingers)
        grip.fingers = stride(from: 0, to: fingers.count - 4, by: 5).map {
            Grip.Finger(
                id: Int(exactly: fingers[$0]) ?? 0, start: ScreenPoint(x: fingers[$0 + 1], y: fingers[$0 + 2]),
                position: ScreenPoint(x: fingers[$0 + 3], y: fingers[$0 + 4]))
        }
        visitor.visit(&grip.moved, .moved)
        visitor.visit(&grip.smallestSpan, .smallestSpan)
        var leads = grip.leadsSince.map { [$0] } ?? []
        visitor.visit(&leads, .leadsSince)
        grip.leadsSince = leads.first
        var meaning = self.meaning.map { Double($0.rawValue) } ?? 0
        visitor.visit(&meaning, .meaning)
        self.meaning = Int(exactly: meaning).flatMap(Meaning.init(rawValue:))
        visitor.visit(&origin, .origin)
        visitor.visit(&tilted, .tilted)
        var slack = self.slack.whole.numbers + [self.slack.reach, self.slack.share]
        visitor.visit(&slack, .slack)
        if slack.count == 6 { self.slack = Slack(Movement(slack), reach: slack[4], share: slack[5]) }
        visitActive(&visitor)
        visitSamples(&visitor)
        visitTaps(&visitor)
    }

    /// In this order whatever is added to the gestures.
    private static let kinds: [GestureKind] = [.pan, .pinch, .rotate, .tilt, .oneFingerZoom]

    private mutating func visitActive(_ visitor: inout some StateVisitor) {
        var flags = Self.kinds.map { active.contains($0) ? 1.0 : 0 }
        visitor.visit(&flags, .active)
        active = Set(zip(Self.kinds, flags).filter { $0.1 == 1 }.map(\.0))
    }

    private mutating func visitSamples(_ visitor: inout some StateVisitor) {
        var before = [panBefore.x, panBefore.y]
        visitor.visit(&before, .panBefore)
        if before.count == 2 { panBefore = ScreenPoint(x: before[0], y: before[1]) }
        visitor.visit(&path, .path)
        visitor.visit(&pinches, .pinches)
    }

    private mutating func visitTaps(_ visitor: inout some StateVisitor) {
        var session: [Double] = []
        if let now = taps.session {
            session = [now.start, now.position.x, now.position.y, Double(now.mostFingers), now.isTap ? 1 : 0]
            if let tap = now.firstTap { session += [tap.x, tap.y] }
        }
        visitor.visit(&session, .session)
        taps.session = nil
        if session.count >= 5 {
            var now = TapDetector.Session(start: session[0], position: ScreenPoint(x: session[1], y: session[2]))
            (now.mostFingers, now.isTap) = (Int(exactly: session[3]) ?? 0, session[4] == 1)
            if session.count == 7 { now.firstTap = ScreenPoint(x: session[5], y: session[6]) }
            taps.session = now
        }
        var last = taps.lastTap.map { [$0.time, $0.position.x, $0.position.y] } ?? []
        visitor.visit(&last, .lastTap)
        taps.lastTap = last.count == 3 ? (last[0], ScreenPoint(x: last[1], y: last[2])) : nil
    }
}

extension Movement {
    fileprivate var numbers: [Double] { [translation.x, translation.y, levels, rotation] }

    fileprivate init(_ numbers: [Double]) {
        guard numbers.count >= 4 else { return }
        translation = ScreenPoint(x: numbers[0], y: numbers[1])
        (levels, rotation) = (numbers[2], numbers[3])
    }
}
