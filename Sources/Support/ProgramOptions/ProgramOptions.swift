// What the programs that use swift-argument-parser have in common: options by their help and what their value is called, and
// the one way in which a program ends with what the parser says.

import ArgumentParser
import GimbalProtocol
import Glibc
import Service

extension Option {
    package init<Word: ExpressibleByArgument>(
        _ help: String, _ valueName: String, name: NameSpecification = .long, completion: CompletionKind? = nil
    ) where Value == Word? {
        self.init(name: name, help: ArgumentHelp(help, valueName: valueName), completion: completion)
    }

    package init(wrappedValue: Value, _ help: String, _ valueName: String) where Value: ExpressibleByArgument {
        self.init(wrappedValue: wrappedValue, help: ArgumentHelp(help, valueName: valueName))
    }

    package init<Word: ExpressibleByArgument>(
        wrappedValue: [Word], _ help: String, _ valueName: String, name: NameSpecification = .long
    ) where Value == [Word] {
        self.init(wrappedValue: wrappedValue, name: name, help: ArgumentHelp(help, valueName: valueName))
    }
}

extension ParsableArguments {
    /// Ends the program with what the parser has to say, be it help or an error; its own way would write that as it is.
    package static func end(with error: any Error) -> Never {
        let (code, text) = (exitCode(for: error), PrintableText(lines: fullMessage(for: error)))
        if !text.isEmpty { (text + "\n").write(to: code.isSuccess ? STDOUT_FILENO : STDERR_FILENO) }
        Glibc.exit(code.rawValue)
    }
}
