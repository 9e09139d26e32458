// Shared by the programs that use swift-argument-parser: options declared by their help and their value's name, and the
// one way to end the program with the parser's message.

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
    /// Ends the program with the parser's message, help or error; the parser's own exit would print it unescaped.
    package static func end(with error: any Error) -> Never {
        let (code, text) = (exitCode(for: error), PrintableText(lines: fullMessage(for: error)))
        if !text.isEmpty { (text + "\n").write(to: code.isSuccess ? STDOUT_FILENO : STDERR_FILENO) }
        Glibc.exit(code.rawValue)
    }
}
