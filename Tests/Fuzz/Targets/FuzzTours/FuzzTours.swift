// From a file of any format to a tour: reading always ends, the daemon accepts every tour, which survives Gimbal's own
// format unchanged, and KML with the same number of keyframes.

import FuzzSupport
import GimbalProtocol
import Tours

/// Whether the daemon accepts the request of a tour.
private func isTaken(_ tour: NamedTour) -> Bool {
    guard let line = try? ClientRequest.tour(tour.keyframes).line().dropLast() else { return false }
    let requests = try? RequestDecoder.requests(of: Array(line).span)
    return requests?.count == 1 && line.count <= RequestDecoder.longestLine
}

private func checkTour(_ tour: NamedTour) {
    check(isTaken(tour), "the request of \(tour) is refused")
    guard let json = try? tour.json(), let same = try? TourFile(json, as: .json, TourOptions()).tour else {
        fatalError("\(tour) is not written")
    }
    check(same == tour, "\(tour) is another one when it comes back")
    guard tour.keyframes.allSatisfy(\.position.isPossible) else { return }
    let kml = tour.kml(viewportHeight: 844).bytes
    do throws(TourFileError) {
        let back = try TourFile(kml, as: .kml, TourOptions()).tour
        check(back.keyframes.count == tour.keyframes.count, "KML has other keyframes")
    } catch {
        fatalError("KML is not read: \(error)")
    }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = input(start, count)
    guard let format = try? TourFormat.recognized(bytes) else { return 0 }
    for followsPath in format == .kml ? [false, true] : [false] {
        var options = TourOptions()
        options.followsPath = followsPath
        if let file = try? TourFile(bytes, as: format, options) { checkTour(file.tour) }
    }
    return 0
}
