// A surface's fingers go on in the next process: what its recognizer knows is handed over, number by number.

import Gestures
import GimbalProtocol
import Touches

extension RecognizerTag: FieldTag {}

extension TouchSurfaces.Surface {
    func write(to out: inout FieldWriter) {
        out.put(SurfaceField.peer, key.feed)
        switch key.label {
        case .none: break
        case .number(let number): out.put(SurfaceField.integer, Double(number))
        case .text(let text): out.put(SurfaceField.text, text)
        }
        out.put(SurfaceField.number, number)
        out.put(SurfaceField.lastTime, time.last)
        out.put(SurfaceField.shift, time.shift)
        out.put(SurfaceField.recognizer) { out in
            // Swapped, so that nothing written so far is copied.
            var (writer, recognizer) = (StateWriter(out: FieldWriter()), recognizer)
            swap(&writer.out, &out)
            recognizer.visit(&writer)
            swap(&writer.out, &out)
        }
    }

    /// Goes on where ``write(to:)`` left off.
    init(_ row: FieldReader) throws(FieldReader.Damage) {
        var row = row
        var (peer, number): (Int?, Int?)
        var label = GestureKey.Label.none
        var (lastTime, shift) = (-Double.infinity, 0.0)
        var recognizer = GestureRecognizer()
        while let (tag, field) = try row.next(SurfaceField.self) {
            switch tag {
            case .peer: peer = try field.integer()
            case .text: label = .text(try field.text())
            case .integer: label = .number(Int64(exactly: try field.double()) ?? 0)
            case .number: number = try field.integer()
            case .lastTime: lastTime = try field.double()
            case .shift: shift = try field.double()
            case .recognizer:
                var reader = try StateReader(field.record())
                recognizer.visit(&reader)
            }
        }
        guard let peer, let number else { throw FieldReader.Damage() }
        self.init(
            SurfaceKey(feed: peer, label: label), number: number, recognizer, lastTime: lastTime, shift: shift)
    }
}

private struct StateWriter: StateVisitor {
    var out: FieldWriter

    mutating func visit(_ numbers: inout [Double], _ tag: RecognizerTag) { out.put(tag, doubles: numbers) }
}

private struct StateReader: StateVisitor {
    private var found: [UInt16: [Double]] = [:]

    init(_ row: FieldReader) throws(FieldReader.Damage) {
        var row = row
        while let (tag, field) = try row.next(RecognizerTag.self) { found[tag.rawValue] = try field.doubles() }
    }

    mutating func visit(_ numbers: inout [Double], _ tag: RecognizerTag) {
        numbers = found[tag.rawValue] ?? numbers
    }
}
