// Asks the kernel to describe a device, with evdev's request numbers and structures from input.h. The caller passes in
// the function that asks, so nothing is opened here.

extension DeviceDescription {
    /// Describes a device by asking the kernel.
    ///
    /// - Parameter ask: sends a request (`ioctl(2)`) with room for its answer, and returns whether it was answered. It
    ///   may write any number of bytes of the room.
    /// - Returns: `nil` if it is not an input device that reports positions.
    public init?(asking ask: (_ request: UInt, _ room: inout [UInt8]) -> Bool) {
        func axis(_ code: Int) -> DeviceAxis? {
            // struct input_absinfo: value, minimum, maximum, fuzz, flat, resolution.
            var info = [UInt8](repeating: 0, count: 24)
            guard ask(Self.request(0x40 + code, info.count), &info) else { return nil }
            func number(_ index: Int) -> Double {
                let bits = (0..<4).reduce(UInt32(0)) { $0 | UInt32(info[index * 4 + $1]) << (8 * UInt32($1)) }
                return Double(Int32(bitPattern: bits))
            }
            let axis = DeviceAxis(minimum: number(1), maximum: number(2), resolution: number(5))
            return axis.length > 0 ? axis : nil
        }
        let isGamepad = axis(AxisCode.belowContacts) != nil
        let contacts = isGamepad ? nil : (axis(AxisCode.contactX), axis(AxisCode.contactY))
        guard let x = contacts?.0 ?? axis(AxisCode.x), let y = contacts?.1 ?? axis(AxisCode.y) else { return nil }
        var name = [UInt8](repeating: 0, count: 256)
        let isNamed = ask(Self.request(0x06, name.count), &name)
        var properties = [UInt8](repeating: 0, count: 4)
        let isSemiMT = ask(Self.request(0x09, properties.count), &properties) && properties[0] & 1 << 3 != 0
        self.init(
            name: isNamed ? String(decoding: name.prefix { $0 != 0 }, as: UTF8.self) : nil, x: x, y: y,
            isSemiMT: isSemiMT)
    }

    /// Returns the number of an evdev request that answers with this many bytes: `_IOR('E', number, …)`.
    private static func request(_ number: Int, _ count: Int) -> UInt {
        UInt(2 << 30 | count << 16 | 0x45 << 8 | number)
    }
}
