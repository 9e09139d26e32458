// Names the unsupported files that people mistake for recordings of touches or keep beside them. Each is recognized by
// words that no other kind of file contains.

enum OtherFiles {
    /// Returns a name for humans of a file that begins with these bytes; `nil` if it is unknown.
    static func name(of beginning: Span<UInt8>) -> String? {
        func has(_ word: StaticString) -> Bool {
            var index = 0
            return Scan.find(word, beginning, &index)
        }
        return known.first { $0.words.allSatisfy(has) }?.name
    }

    private static let known: [(words: [StaticString], name: String)] = [
        (["/tuio/2D"], "a TUIO log"),
        (["EVENT type ", "TouchBegin"], "a log of \"xinput test-xi2\""),
        (["[Appium]"], "an Appium log"),
        (["<trace-query-result"], "an export of Xcode's xctrace"),
        (["INPUT MANAGER (dumpsys input)"], "the output of \"dumpsys input\""),
        (["--------- beginning of "], "an Android log without MotionEvents"),
        (["\"command\"", "\"register\"", "UI_SET_"], "a script for Android's uinput"),
        (["\"steps\"", "\"setViewport\""], "a user flow of Chrome's Recorder"),
        (["\"traceEvents\""], "a performance trace of Chrome"),
        (["\"commands\"", "\"targets\"", "\"urls\""], "a project of Selenium IDE"),
        (["\"log\"", "\"entries\"", "\"creator\""], "an HTTP archive (HAR)"),
        (["appId:", "- tapOn"], "a flow of Maestro"),
    ]
}
