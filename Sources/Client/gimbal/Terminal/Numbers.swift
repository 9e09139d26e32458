// Numbers for people: fixed places, grouped thousands, clocks.

/// Returns a number with `places` decimals.
func fixed(_ value: Double, _ places: Int) -> String {
    let power = (0..<places).reduce(1.0) { power, _ in power * 10 }
    let scaled = (value.magnitude * power).rounded()
    guard scaled < 1e18 else { return "\(value)" }
    let units = Int64(scaled)
    let sign = value < 0 && units > 0 ? "-" : ""
    guard places > 0 else { return sign + String(units) }
    let digits = zeroed(String(units), places + 1)
    return "\(sign)\(digits.dropLast(places)).\(digits.suffix(places))"
}

/// Returns digits with zeros in front, `count` in all.
private func zeroed(_ digits: String, _ count: Int) -> String {
    String(repeating: "0", count: max(count - digits.count, 0)) + digits
}

/// Returns a bearing with `places` decimals, below 360.
func bearing(_ value: Double, _ places: Int) -> String {
    let text = fixed(value, places)
    return text == fixed(360, places) ? fixed(0, places) : text
}

/// Returns a longitude with `places` decimals, below 180.
func longitude(_ value: Double, _ places: Int) -> String {
    let text = fixed(value, places)
    return text == fixed(180, places) ? fixed(-180, places) : text
}

/// Returns a count with commas between its thousands.
func grouped(_ count: Int) -> String {
    guard count.magnitude >= 1000 else { return String(count) }
    return "\(grouped(count / 1000)),\(zeroed(String((count % 1000).magnitude), 3))"
}

/// Returns a count and what it counts.
func counted(_ count: Int, _ noun: String) -> String { "\(grouped(count)) \(noun)\(count == 1 ? "" : "s")" }

/// Returns a time as a clock shows it: minutes, seconds, and hours if there are any.
///
/// - Parameter places: decimals of the seconds.
func clock(milliseconds: Double, _ places: Int) -> String {
    let unit = (0..<places).reduce(1.0) { unit, _ in unit / 10 }
    let seconds = (milliseconds / 1000 / unit).rounded() * unit
    let minutes = (seconds / 60).rounded(.down)
    guard minutes.magnitude < 1e9 else { return "\(milliseconds) ms" }
    let rest = zeroed(fixed(seconds - minutes * 60, places), places > 0 ? places + 3 : 2)
    let (whole, hours) = (Int(minutes), Int(minutes) / 60)
    return hours > 0 ? "\(hours):\(zeroed(String(whole % 60), 2)):\(rest)" : "\(whole):\(rest)"
}

/// Returns a span of time in words.
func spoken(_ milliseconds: Double) -> String {
    milliseconds < 1000 ? "\(short(milliseconds)) ms" : "\(short(milliseconds / 1000)) s"
}

/// Returns a number without superfluous decimals.
func short(_ value: Double) -> String {
    value == value.rounded() && value.magnitude < 1e15 ? "\(Int(value))" : "\(value)"
}
