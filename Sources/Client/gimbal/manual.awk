# From what swift-argument-parser's manual generator writes to pages that read as others do: it takes a discussion for
# running text, where it has paragraphs, examples and a table. A page's name is `gimbal-watch`, so that `man gimbal watch`
# finds it. Variables: `also`, the pages that each page refers to, such as "gimbal 1 gimbald 8"; `system_name`, whose
# pages these are.

function escaped(text) { gsub(/-/, "\\-", text); return text }

# What is typed or printed must be copied as it is.
function literal(text) {
    gsub(/'/, "\\(aq", text)
    gsub(/`/, "\\(ga", text)
    gsub(/\^/, "\\(ha", text)
    gsub(/~/, "\\(ti", text)
    return escaped(text)
}

function end_display() {
    if (displaying) print ".Ed"
    displaying = 0
}

# A line of a section of its own: a paragraph, an item such as "  NAME  what it is" with its continuation lines, or, where
# the section has no items, what is to be copied as it is. Such a section goes on until the next heading.
function write_section(line, name, gap) {
    if (line == "") { is_new_paragraph = 1; return }
    if (line ~ /^  [^ ]/ && match(line, /[^ ]  +[^ ]/)) {
        gap = RSTART
        begin_in_section(".Bl -tag -width 6n")
        name = substr(line, 3, gap - 2)
        line = substr(line, gap + 1)
        sub(/^ +/, "", line)
        add(".It Sy " literal(name) "\n" sentences(line))
    } else if (line ~ /^      / && section_mode ~ /^\.Bl/) {
        sub(/^ +/, "", line)
        add(sentences(line))
    } else if (line ~ /^  /) {
        begin_in_section(".Bd -literal -offset indent")
        add(literal(substr(line, 3)))
    } else {
        begin_in_section("")
        if (is_new_paragraph && sections[section] != "") add(".Pp")
        add(sentences(line))
    }
    is_new_paragraph = 0
}

# What a section is in from here on: a list, a display, or neither.
function begin_in_section(mode) {
    if (mode == section_mode) return
    if (section_mode != "") add(section_mode ~ /^\.Bl/ ? ".El" : ".Ed")
    if (mode != "") add(mode)
    section_mode = mode
}

function add(text) { sections[section] = sections[section] text "\n" }

# A sentence begins a line.
function sentences(text) { gsub(/[.] /, ".\n", text); return escaped(text) }

function print_section(heading, title) {
    if (heading in sections) printf ".Sh %s\n%s", title, sections[heading]
}

# A line of the discussion.
function discuss(line) {
    sub(/^\\&/, "", line)
    if (line ~ /^(Limits|Signals|Environment|Files|State|Service):$/) {
        if (is_own_section) begin_in_section("")
        end_display()
        section = line
        is_own_section = 1
        is_new_paragraph = 0
        return
    }
    if (line == "Exit status:" || line == "Examples:") {
        if (is_own_section) begin_in_section("")
        is_own_section = 0
        section = line
        return
    }
    if (is_own_section) { write_section(line); return }
    if (line == "") { end_display(); section = ""; paragraph = described; return }
    if (line ~ /^ /) {
        sub(/^  /, "", line)
        if (section == "Exit status:") statuses[++status_count] = line
        else if (section == "Examples:") examples[++example_count] = literal(line)
        else {
            if (!displaying) print ".Bd -literal -offset indent"
            displaying = 1
            print literal(line)
        }
        return
    }
    end_display()
    if (paragraph) print ".Pp"
    paragraph = 0
    described = 1
    print sentences(line)
}

function hyphenated(name) { sub(/[.]/, "-", name); return name }

# A reference to another page, but not to this one.
function refer(name, number) {
    if (name != page) references = references (references == "" ? "" : " ,\n") ".Xr " name " " number
}

# Writes the item that was held back, without paragraphs that end or begin where items and lists do.
function keep() {
    sub(/\.Pp\n$/, "", text)
    gsub(/\.Pp\n\.Bl/, ".Bl", text)
    if (title != "") printf "%s\n%s", title, text
    title = text = item = ""
}

# An option begins. `--tilt` and `--no-tilt`, of which the same is said, are one item.
function begin_item(line) {
    is_opposite = item != "" && line == ".It Fl -no-" item
    if (is_opposite) {
        title = title " , Fl -no-" item
        item = ""
        return
    }
    keep()
    title = item = line
    if (!sub(/^\.It Fl -/, "", item) || item ~ / /) item = ""
}

FNR == 1 { folder = FILENAME; sub(/[^\/]*$/, "", folder) }
/^\.Sh / { part = $0; gsub(/^\.Sh |"/, "", part); end_display() }

# The head. In the name a subcommand has a hyphen, in the synopsis it has none.
/^\.Dt / { $2 = hyphenated($2) }
/^\.Os/ { $0 = ".Os \"" system_name "\"" }
/^\.Nm / { command = $0; page = $0; gsub(/^\.Nm |"/, "", page); gsub(/ /, "-", page); $0 = ".Nm " page }
/^\.Nm$/ { $0 = command }
/^\.Nd / { sub(/[.]"$/, "\"") }

# What comes after the options is written at the end.
/^\.Xr gimbal[.]help/ { next }
/^\.Xr / { subcommands[++subcommand_count] = $2; refer(hyphenated($2), $3 + 0) }
part == "EXIT STATUS" || part == "SEE ALSO" { next }

part == "DESCRIPTION" && /^\.Bl / { is_listing = 1; end_display() }
part == "DESCRIPTION" && !is_listing && !/^\.Sh / { discuss($0); next }

/^\.It / { begin_item($0); next }
/^\.El/ { keep() }
!/^\./ { $0 = escaped($0) }
title != "" { if (!is_opposite) text = text $0 "\n"; next }
{ print }

# What a subcommand is for, as its own page says it.
function purpose(subcommand, line) {
    while ((getline line < (folder subcommand ".1")) > 0) if (sub(/^\.Nd /, "", line)) break
    gsub(/"/, "", line)
    return escaped(line)
}

function list_subcommands() {
    print ".Sh SUBCOMMANDS\n.Bl -tag -width 10n -compact"
    for (i = 1; i <= subcommand_count; i++) {
        name = subcommands[i]
        print ".It Cm " substr(name, index(name, ".") + 1) "\n" purpose(name)
    }
    print ".El"
}

function list_statuses() {
    print ".Bl -tag -width 4n -compact"
    for (i = 1; i <= status_count; i++) {
        split(statuses[i], words, " ")
        sub(/^[0-9]+ +/, "", statuses[i])
        print ".It " words[1] "\n" statuses[i]
    }
    print ".El"
}

function show_examples() {
    print ".Sh EXAMPLES\n.Bd -literal -offset indent"
    for (i = 1; i <= example_count; i++) print examples[i]
    print ".Ed"
}

END {
    if (subcommand_count) list_subcommands()
    # Sections that only the page has, and not the help.
    file = "Sources/" (page == "gimbald" ? "Daemon/" : "Client/") page "/manual.txt"
    while ((getline line < file) > 0) discuss(line)
    if (is_own_section) begin_in_section("")
    print_section("Limits:", "LIMITS")
    print_section("Signals:", "SIGNALS")
    print_section("Service:", "SERVICE")
    print_section("Environment:", "ENVIRONMENT")
    print_section("Files:", "FILES")
    print_section("State:", "STATE FILE")
    print ".Sh EXIT STATUS"
    if (status_count) list_statuses(); else print "The statuses are those of\n.Xr gimbal 1 ."
    if (example_count) show_examples()
    count = split(also, words, " ")
    for (i = 1; i < count; i += 2) refer(words[i], words[i + 1])
    print ".Sh SEE ALSO\n" references
}
