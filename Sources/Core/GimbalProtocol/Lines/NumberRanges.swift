// The ranges of numbers in lines. The general decoder and the fast one judge by the same; the schema has them, too.

extension ClosedRange<Double> {
    /// Points of the screen, and how far fingers have moved there.
    static var points: Self { -1e9...1e9 }
    /// Degrees of a rotation, which is not wrapped.
    static var rotation: Self { -1e9...1e9 }
    /// Factors of a pinch.
    static var scale: Self { 1e-9...1e9 }
    /// Milliseconds of a clock, wherever it begins.
    static var times: Self { -1e15...1e15 }
}
