"""Random expressions of the Puppet language, with arguments that are mostly right and sometimes anything."""

STRINGS = ["''", "'a'", "'abc'", "'Hello World'", "'  padded\\t '", "'10'", "'-7'", "'0x1f'", "'017'", "'1e2'", "'3.14'", "'true'",
           "'yes'", "'no'", "'undef'", "'a,b,,c'", "'/usr/lib/x.tar.gz'", "'foo::bar'", "'ABC-def_GHI'", "\"line1\\nline2\\n\"",
           "'ünïcödé'", "'ß'", "'a b  c'", "'x=1'", "'$HOME'", "\"it's\"", "'\"q\"'", "'1.2.3'", "'1.2.3-rc1'", "'10.0.0.1'",
           "'fe80::1'", "'192.168.1.0/24'", "'www.example.com'", "'user@example.com'", "'00:11:22:aa:bb:cc'", "'%d'", "'aaabbb'",
           "'snake_case_word'", "'.'", "'/'", "'foo/'", "'1 GB'", "'10k'", "\"\\u00e9\"", "'Ab'", "'aB'", "'z'", "'b'"]
INTS = ["0", "1", "-1", "2", "3", "5", "10", "-7", "42", "255", "1000", "123456789", "9223372036854775807", "-9223372036854775808"]
FLOATS = ["0.0", "1.0", "-1.5", "2.5", "3.7", "-2.7", "1.0e10", "1.5e-5", "0.1", "100.25", "1.0e20", "123456.789"]
BOOLS = ["true", "false"]
WORDS = ["'a'", "'b'", "'c'", "'x'", "'key'", "'abc'", "'A'"]
RANGES = ["'>=1.0.0'", "'1.x'", "'~1.2.0'", "'^1.2.3'", "'>=1.0.0 <2.0.0'", "'1.2.3 - 2.0.0'", "'1.0.0 || >=3.0.0'", "'x'", "'=1.2.3'", "'<1.0.0-rc1'", "'bad'"]
SPANS = ["Timespan(90)", "Timespan('1-02:03:04.5')", "Timespan(-3, 4, 5)", "Timespan({days => 2, hours => 5})", "Timespan(0.25)", "Timespan('2:30', '%H:%M')"]
STAMPS = ["Timestamp(0)", "Timestamp('2016-08-01T12:30:45.123 UTC')", "Timestamp(1500000000.25)", "Timestamp('2001-02-03', '%Y-%m-%d', 'CET')"]
REGEXES = ["/a/", "/b+/", "/(\\w)(\\w)/", "/^\\d+$/", "/[aeiou]/", "/\\s+/", "/(?i:A)/", "/,/", "/x*/"]
TYPES = ["Integer", "Integer[1,10]", "String", "String[2]", "Boolean", "Array", "Array[Integer]", "Hash", "Hash[String,Integer]",
         "Optional[String]", "Variant[Integer,String]", "Enum['a','abc','10']", "Pattern[/a/]", "Undef", "Any", "Scalar", "Data",
         "Numeric", "Float", "Float[0.0,5.0]", "Collection", "Tuple[Integer,String]", "Struct[{a=>Integer}]", "NotUndef",
         "Regexp", "Type[Integer]", "Default", "ScalarData", "RichData", "Iterable", "Sensitive", "Callable", "Class", "File",
         "Resource", "CatalogEntry", "Array[String,1,3]", "Hash[String,Any,1]", "Tuple[String,1,2]", "Struct[{Optional['a']=>String}]",
         "Integer[default,5]", "String[1,3]", "Type[String]", "Init[Integer]", "SemVer", "Timespan", "Timestamp", "Binary", "URI"]


def string(r): return r.choice(STRINGS)
def word(r): return r.choice(WORDS)
def integer(r): return r.choice(INTS)
def small(r): return str(r.randint(-3, 6))
def positive(r): return str(r.randint(1, 6))
def floating(r): return r.choice(FLOATS)
def number(r): return r.choice(INTS[:12] + FLOATS)
def boolean(r): return r.choice(BOOLS)
def regex(r): return r.choice(REGEXES)
def type_(r, depth=2):
    """A data type, at times one that is put together."""
    if depth == 0 or r.random() < 0.55: return r.choice(TYPES)
    part = lambda: type_(r, depth - 1)
    low, high = sorted((r.randrange(4), r.randrange(5)))
    size = r.choice(["", "", f", {low}", f", {low}, {high}", ", default, 2"])
    key = lambda: r.choice(["'a'", "'b'", "'key'", "Optional['x']", "NotUndef['a']"])
    return r.choice([
        lambda: f"Array[{part()}{size}]", lambda: f"Hash[{r.choice(['String', 'Scalar', 'Integer', part()])}, {part()}{size}]", lambda: f"Optional[{part()}]",
        lambda: f"Variant[{', '.join(part() for _ in range(r.randint(1, 3)))}]", lambda: f"Tuple[{', '.join(part() for _ in range(r.randint(1, 3)))}{size if r.random() < 0.4 else ''}]",
        lambda: "Struct[{" + ", ".join(f"{k} => {part()}" for k in dict.fromkeys(key() for _ in range(r.randint(1, 3)))) + "}]", lambda: f"NotUndef[{part()}]", lambda: f"Type[{part()}]",
        lambda: f"Sensitive[{part()}]", lambda: f"Iterable[{part()}]", lambda: f"Iterator[{part()}]", lambda: f"Integer[{low}, {high}]", lambda: f"String[{low}, {high}]", lambda: f"Float[{low}.5, {high}.5]",
        lambda: f"Enum[{', '.join(r.sample(WORDS, r.randint(1, 3)))}{r.choice(['', '', ', true'])}]", lambda: f"Pattern[{', '.join(r.sample(REGEXES, r.randint(1, 2)))}]", lambda: f"Regexp[{r.choice(REGEXES)}]",
        lambda: f"Callable[{part()}{r.choice(['', ', ' + part(), ', 1, 2', ', Callable[' + part() + ']'])}]", lambda: f"Collection[{low}, {high}]", lambda: f"SemVer[{r.choice(RANGES)}]", lambda: f"Boolean[{r.choice(BOOLS)}]",
        lambda: f"Timespan[{low}, {high}]", lambda: r.choice(["Timestamp['2000-01-01', default]", "Resource['file']", "Resource['File', '/x']", "File['/x']", "Class['a::b']", "Class[a, b]", "File['a', 'b']", "Optional['abc']", "TypeSet", "Object[{name => 'X', attributes => {a => Integer}}]", "Runtime['ruby', 'x']", "Init[Integer, 16]", "URI[{scheme => 'http'}]"]),
    ])()
def scalar(r): return r.choice([string, integer, floating, boolean, string])(r)
def undef(_): return "undef"


def value(r, depth=2):
    k = r.randrange(12)
    if k < 3: return string(r)
    if k < 5: return integer(r)
    if k == 5: return floating(r)
    if k == 6: return boolean(r)
    if k == 7: return "undef"
    if depth == 0: return string(r)
    if k == 8: return r.choice([regex, type_, lambda _: "default", lambda x: f"Sensitive({string(x)})"])(r) if r.random() < 0.4 else string(r)
    if k < 11: return array(r, depth - 1)
    return hash_(r, depth - 1)


def array(r, depth=1): return "[" + ", ".join(value(r, depth) for _ in range(r.randrange(5))) + "]"
def strings(r): return "[" + ", ".join(string(r) for _ in range(r.randrange(5))) + "]"
def words(r): return "[" + ", ".join(word(r) for _ in range(r.randrange(6))) + "]"
def numbers(r): return "[" + ", ".join(number(r) for _ in range(r.randrange(5))) + "]"
def ints(r): return "[" + ", ".join(small(r) for _ in range(r.randrange(6))) + "]"
def pairs(r): return "[" + ", ".join(f"[{word(r)}, {value(r, 1)}]" for _ in range(r.randrange(4))) + "]"


def hash_(r, depth=1):
    keys = r.sample(["'a'", "'b'", "'c'", "'key'", "'x'", "1", "'A'"], r.randrange(5))
    return "{" + ", ".join(f"{k} => {value(r, depth)}" for k in keys) + "}"


def string_hash(r):
    keys = r.sample(["'a'", "'b'", "'c'", "'key'", "'x'", "'abc'"], r.randrange(5))
    return "{" + ", ".join(f"{k} => {string(r)}" for k in keys) + "}"


def nested(r):
    return r.choice(["{'a' => {'b' => [1, {'c' => 'deep'}]}, 'x' => undef}", "[[1, [2, 3]], {'a' => 'b'}]", "{'a' => 1}", "{'a' => {'b' => 2}}", "{'a' => {'c' => 3}, 'b' => [1]}"])


def one_of(*choices): return lambda r: r.choice(choices)


lists = one_of  # for reading
name_any = lambda r: r.choice([array, strings, words, ints, hash_, string])(r)
collection = lambda r: r.choice([array, strings, words, ints, hash_, string_hash])(r)
json_text = one_of("'{\"a\": [1, 2.5, null, true]}'", "'[1,2'", "'\"x\"'", "''", "'{}'", "'{\"a\":{\"b\":\"\\\\u00e9\"}}'", "'nope'", "'1'")
yaml_text = one_of("\"a: 1\\nb: [x, yes, ~]\\n\"", "'- 1'", "\"a: {b: c}\\n\"", "'x'", "''", "\"a: 'q'\\nb: \\\"d\\\\n\\\"\\n\"", "'[1'", "\"- 0x1f\\n- 017\\n- 1.50\\n- 1_000\\n\"")
version = one_of("'1.0'", "'1.0.0'", "'1.10'", "'1.9'", "'1.0-rc1'", "'2'", "'2.0a'", "'1.0.10'", "''", "'1.0~beta'", "'01.0'")
path = one_of("'/usr/lib/x.tar.gz'", "'a/b'", "'/'", "''", "'.'", "'foo'", "'/a/'", "'a.b.c'", "'.bashrc'", "'//a//b'")
fmt_s = one_of("'%s'", "'%5s|'", "'%-5s|'", "'%d'", "'%05d'", "'%+d'", "'%x'", "'%#x'", "'%o'", "'%b'", "'%e'", "'%.2f'", "'%g'", "'%08.3f'", "'%c'", "'%%'", "'%p'", "'%s-%s'", "'%2$s'", "'% d'", "'%X'", "'%.1s'", "'%<a>s'", "'%{a}'", "'%i'", "'%u'", "'%a'", "'%G'", "'%E'", "'%#o'", "'%*d'")
str_fmt = one_of("'%s'", "'%p'", "'%d'", "'%x'", "'%#x'", "'%o'", "'%b'", "'%e'", "'%.2f'", "'%g'", "'%a'", "'%c'", "'%C'", "'%u'", "'%t'", "'%10s'", "'%-10s|'", "'%#s'", "'%#p'", "'%#b'", "'%y'", "'%#a'", "'%(a'", "'%h'", "'%f'", "'%05d'", "'%+d'", "'%X'", "'%q'", "'%T'", "'%#T'", "'%B'", "'%m'",
                 "{Integer => '%x', Array => '%(a'}", "{Array => {format => '%[a', separator => ' ', string_formats => {String => '%p'}}}", "{Hash => {format => '%#h', separator2 => ': '}}", "{Float => '%.3e', String => '%u'}", "{Array => {format => '%#a'}}")
block1 = one_of("|$x| { $x }", "|$x| { $x =~ Integer }", "|$x| { \"<${x}>\" }", "|$x| { [$x, $x] }", "|$i, $x| { \"${i}=${x}\" }", "|$x| { $x ? { undef => 'u', default => $x } }", "|*$x| { $x }", "|$x| { $x =~ String and $x > 'b' }", "|$x| { true }", "|$x| { if $x == 'a' { next() } $x }", "|$x| { if $x == 'b' { break() } $x }")
reducer = one_of("|$m, $x| { \"${m}${x}\" }", "|$m, $x| { $x }", "|$m, $x| { [$m, $x] }")
span = lambda r: r.choice(SPANS)
stamp = lambda r: r.choice(STAMPS)
moment = lambda r: r.choice([span, stamp, number])(r)
time_format = one_of("'%Y-%m-%d %H:%M:%S'", "'%D-%H:%M:%S'", "'%s'", "'%-d %b %y'", "'%j %U %u'", "'%H:%M:%S.%L'", "'%N|%3N|%9N'", "'%-H %_H %03H'", "'%%'", "'%S'", "'%M:%S'", "'%A %B %e %I %p'", "'%Q'", "'%FT%T%z'", "'%c'", "'%D'", "'x'")
text_template = one_of("'<%= $answer %>x'", "'a<% if true { %>b<% } -%>'", "\"<%- |$x = 3| -%>\\n<%= $x * 2 -%>\\n\"", "'<%# c %>y'", "'<%% z %%>'", "\"<% [1, 2].each |$i| { -%>\\n- <%= $i %>\\n<% } -%>\\nend\"", "'<%= [1, {a => 2}] %>'", "'<%= undef %>|<%= true %>'", "'<%'")
version3 = one_of("SemVer('1.2.3')", "SemVer('1.2.3-rc.1')", "SemVer('2.0.0+b1')", "SemVer(1, 2, 3)", "SemVer('0.9.10')", "SemVer({major => 1, minor => 0, patch => 0, prerelease => 'a'})")
base = one_of("2", "8", "10", "16", "'2'", "'16'", "36", "1", "37")

# name, argument makers; a call is name(args). Several lines for one name are several ways to call it.
CALLS = [
    ("downcase", string), ("downcase", array), ("upcase", string), ("upcase", strings), ("capitalize", string), ("capitalize", strings),
    ("camelcase", string), ("camelcase", strings), ("strip", string), ("strip", strings), ("lstrip", string), ("rstrip", string), ("chomp", string),
    ("chop", string), ("chomp", strings), ("chop", strings), ("length", name_any), ("size", name_any), ("empty", value), ("versioncmp", version, version),
    ("versioncmp", version, version, boolean), ("abs", number), ("abs", string), ("ceiling", number), ("ceiling", string), ("floor", number), ("floor", string),
    ("round", number), ("max", number, number, number), ("max", numbers), ("max", strings), ("max", string, string), ("min", number, number), ("min", numbers), ("min", string, number),
    ("max", ints), ("compare", number, number), ("compare", string, string), ("compare", string, string, boolean), ("sort", words), ("sort", string), ("sort", ints), ("sort", array),
    ("unique", words), ("unique", string), ("unique", array), ("unique", hash_), ("flatten", array), ("flatten", nested), ("flatten", value, value),
    ("dig", nested, word), ("dig", nested, word, word), ("dig", nested, small), ("get", nested, one_of("'a.b'", "'a'", "'a.b.1.c'", "'x'", "'0.1'", "''", "'a.z'")),
    ("get", nested, one_of("'a.b'", "'zz'"), value), ("keys", hash_), ("values", hash_), ("join", array), ("join", array, string), ("join", words, word), ("split", string, string), ("split", string, regex),
    ("regsubst", string, regex, word), ("regsubst", string, regex, one_of("'<\\\\0>'", "'\\\\1-\\\\2'", "''"), one_of("'G'", "'I'", "'GI'", "'EIMG'")), ("regsubst", strings, one_of("'a'", "'[a-z]'", "'('"), word, one_of("'G'", "undef")),
    ("match", string, regex), ("match", strings, regex), ("match", string, type_), ("sprintf", fmt_s, value), ("sprintf", fmt_s, integer), ("sprintf", fmt_s, floating), ("sprintf", fmt_s, string, string), ("sprintf", fmt_s, hash_),
    ("String", value, str_fmt), ("String", integer, str_fmt), ("String", floating, str_fmt), ("String", string, str_fmt), ("String", array, str_fmt), ("String", hash_, str_fmt), ("String", boolean, str_fmt), ("String", value), ("String", undef, str_fmt), ("String", type_, str_fmt),
    ("Integer", string), ("Integer", number), ("Integer", string, base), ("Integer", boolean), ("Integer", string, base, boolean), ("Float", string), ("Float", number), ("Numeric", string), ("Numeric", value), ("Boolean", scalar), ("Boolean", string), ("Array", value), ("Array", value, boolean), ("Hash", pairs), ("Hash", array), ("Hash", hash_), ("Tuple", value),
    ("Integer", value), ("Float", value), ("Regexp", string), ("Sensitive", value), ("SemVer", string), ("SemVer", version), ("URI", string), ("Timespan", one_of("10", "1.5", "'1-02:03:04'", "'00:30'", "{'hours' => 2, 'minutes' => 5}", "'x'")), ("Timestamp", one_of("0", "1500000000", "1.5", "'2016-08-01'", "'2016-08-01T12:30:45 UTC'", "'bad'")), ("Binary", one_of("'aGVsbG8='", "'hello'", "['hello', '%s']", "[104, 105]")), ("Type", string),
    ("type", value), ("type", value, one_of("'detailed'", "'reduced'", "'generalized'")), ("type_of", value), ("is_a", value, type_), ("assert_type", type_, value), ("assert_type", type_, scalar), ("convert_to", value, type_), ("convert_to", scalar, one_of("Integer", "String", "Float", "Array", "Boolean")), ("unwrap", value),
    ("any2array", value), ("concat", array, array), ("concat", array, value, value), ("count", array), ("count", array, value), ("count", words, word), ("deep_merge", nested, nested), ("deep_merge", hash_, hash_, hash_), ("delete", array, value), ("delete", words, word), ("delete", string, word), ("delete", hash_, word), ("delete", words, words), ("delete_at", array, small), ("delete_regex", strings, one_of("'a'", "'^b'", "'.*c'")), ("delete_regex", string_hash, one_of("'a'", "'k.*'")),
    ("delete_values", hash_, value), ("delete_values", string_hash, string), ("delete_undef_values", array), ("delete_undef_values", hash_), ("difference", words, words), ("difference", array, array), ("intersection", words, words), ("union", words, words, words), ("union", array, array), ("grep", strings, one_of("'a'", "'^.$'", "'[0-9]'")), ("reject", strings, one_of("'a'", "'^.$'")),
    ("has_key", hash_, word), ("hash", pairs), ("hash", words), ("hash", array), ("join_keys_to_values", hash_, word), ("join_keys_to_values", string_hash, string), ("member", words, word), ("member", array, value), ("member", words, words), ("prefix", strings, word), ("prefix", string_hash, word), ("suffix", strings, word), ("suffix", string_hash, word), ("prefix", array), ("range", small, small), ("range", small, small, positive), ("range", one_of("'a'", "'host01'", "'b'"), one_of("'e'", "'host05'", "'a'")), ("range", one_of("'1'", "'0'"), one_of("'5'", "'3'")), ("range", one_of("'a..e'", "'1..5'", "'a...e'", "'x'")),
    ("reverse", array), ("reverse", string), ("values_at", array, small), ("values_at", words, one_of("'0-2'", "'1'", "['0-1', '2']", "'-1'", "[0, 2]", "'0..1'", "'9'")), ("zip", array, array), ("zip", words, ints, boolean), ("pick", value, value, value), ("pick", undef, string), ("pick_default", value, value), ("pick_default", undef, one_of("''")), ("clamp", number, number, number), ("clamp", numbers), ("clamp", string, string, string),
    ("parsejson", json_text), ("parsejson", json_text, value), ("parseyaml", yaml_text), ("parseyaml", yaml_text, value), ("base64", one_of("'encode'", "'bad'"), string), ("base64", one_of("'encode'", "'encode'"), one_of("'aGVsbG8='", "'hello world and more text to be wrapped at some point in the line ok'"), one_of("'default'", "'strict'", "'urlsafe'")), ("to_json", value), ("to_json_pretty", collection), ("to_json_pretty", collection, boolean), ("to_yaml", value), ("to_yaml", collection), ("to_python", value), ("to_ruby", value),
    ("fqdn_rand", positive), ("fqdn_rand", integer, string), ("fqdn_rand_string", positive), ("fqdn_rand_string", positive, one_of("'abc'", "''", "'xyz123'")), ("fqdn_rand_string", positive, one_of("'abc'", "undef"), string), ("fqdn_rotate", words), ("fqdn_rotate", string), ("fqdn_rotate", array, string), ("seeded_rand", positive, string), ("seeded_rand_string", positive, string), ("seeded_rand_string", positive, string, one_of("'abcdef'", "'xy'")), ("fqdn_uuid", one_of("'example.com'", "'a'", "''")), ("pw_hash", one_of("'secret'", "''"), one_of("'MD5'", "'SHA-256'", "'SHA-512'", "'sha-512'", "'X'"), one_of("'salt'", "'ab/.'", "'b@d'", "''")),
    ("swapcase", string), ("swapcase", strings), ("regexpescape", string), ("regexpescape", strings), ("uriescape", string), ("uriescape", strings), ("squeeze", string), ("squeeze", string, one_of("'a'", "'ab'", "'a-b'", "' '")), ("squeeze", strings), ("dos2unix", one_of("\"a\\r\\nb\"", "'x'")), ("unix2dos", one_of("\"a\\nb\"", "\"a\\r\\nb\"")), ("shell_join", strings), ("shell_escape", value), ("shell_escape", string), ("batch_escape", string), ("powershell_escape", string), ("shellquote", string, string), ("shellquote", strings), ("basename", path), ("basename", path, one_of("'.gz'", "'.c'", "'.*'")), ("dirname", path), ("enclose_ipv6", one_of("'fe80::1'", "'10.0.0.1'", "['::1', '1.2.3.4', 'host', '*']", "'[::1]'", "'host'")),
    ("to_bytes", string), ("to_bytes", one_of("'4 kB'", "'1.5M'", "'2g'", "'10'", "'1 TB'", "'abc'", "'3 PB'", "'1KiB'", "10")), ("convert_base", one_of("5", "'254'", "'ff'", "'z'"), base), ("str2bool", string), ("str2bool", one_of("'1'", "'t'", "'y'", "'f'", "'n'", "'TRUE'", "'False'", "'on'", "true", "'off'")), ("num2bool", number), ("num2bool", string), ("any2bool", value), ("any2bool", string), ("bool2num", scalar), ("bool2num", boolean), ("bool2str", boolean), ("bool2str", boolean, string, string), ("str2num", string),
    ("md5", string), ("sha1", string), ("sha256", string), ("stdlib::extname", path), ("stdlib::start_with", string, string), ("stdlib::start_with", string, strings), ("stdlib::end_with", string, string), ("stdlib::xml_encode", string), ("stdlib::xml_encode", string, one_of("'text'", "'attr'")), ("stdlib::ip_in_range", one_of("'192.168.1.5'", "'10.0.0.1'"), one_of("'192.168.1.0/24'", "['10.0.0.0/8', '1.2.3.0/24']")), ("merge", hash_, hash_), ("merge", hash_, one_of("''", "undef"), hash_), ("os_version_gte", one_of("'Debian'", "'Ubuntu'"), one_of("'9'", "'12'")),
    ("is_array", value), ("is_hash", value), ("is_bool", value), ("is_string", value), ("is_integer", value), ("is_float", value), ("is_numeric", value), ("is_numeric", string), ("is_integer", string), ("is_float", string), ("is_ip_address", string), ("is_ipv4_address", string), ("is_ipv6_address", string), ("is_mac_address", string), ("is_absolute_path", path), ("is_domain_name", string), ("is_email_address", string), ("validate_re", string, one_of("'a'", "['^b', 'c']", "'^[a-z]+$'")), ("validate_slength", string, positive), ("validate_slength", strings, positive, one_of("1", "2")), ("validate_integer", scalar), ("validate_integer", scalar, integer), ("validate_integer", ints, integer, small), ("validate_numeric", scalar), ("validate_numeric", scalar, number), ("validate_array", value), ("validate_hash", value), ("validate_bool", value), ("validate_string", value), ("validate_absolute_path", path), ("validate_ip_address", string), ("validate_domain_name", string), ("validate_email_address", string),
    ("defined", one_of("'file'", "'nope'", "File", "'$answer_'", "File['/x']", "Integer", "Foo", "Class['a']")), ("digest", string), ("scanf", one_of("'12 abc'", "'0x1f'", "'a'"), one_of("'%d %s'", "'%i'", "'%x'", "'%c'")), ("sprintf_hash", one_of("'%<a>s and %{b}'", "'%<a>d'", "'x'"), hash_), ("try_get_value", nested, one_of("'a/b'", "'a'", "'zz'", "'a/b/1/c'"), value), ("to_toml", string_hash),
    ("strftime", stamp, time_format), ("strftime", span, time_format), ("strftime", stamp, time_format, one_of("'UTC'", "'+02:00'", "'CET'", "'bad'")), ("Timespan", string), ("Timespan", number), ("Timespan", string, time_format), ("Timestamp", string), ("Timestamp", string, time_format), ("Timestamp", number), ("String", span, str_fmt), ("String", stamp, str_fmt), ("String", version3), ("Integer", span), ("Float", stamp), ("Numeric", moment),
    ("SemVer", integer, integer, integer), ("SemVerRange", one_of(*RANGES)), ("String", lambda r: f"SemVerRange({r.choice(RANGES)})"), ("getvar", one_of("'facts'", "'facts.os.family'", "'facts.os.nope'", "'nope'", "'facts.os.0'", "'bad-name'")), ("getvar", one_of("'facts.os'", "'nope.x'"), value), ("call", one_of("'abs'", "'join'", "'nope'", "'size'"), value), ("inline_epp", text_template), ("inline_epp", text_template, one_of("{x => 5}", "{}", "{y => 1}", "undef")), ("lookup", word, type_, one_of("'first'", "'unique'", "'hash'", "'deep'", "{'strategy' => 'deep', 'merge_hash_arrays' => true}"), value), ("lookup", word, one_of("{'default_value' => 3}", "{}", "{'value_type' => String, 'default_value' => 1}")), ("hiera", word, value),
    ("shell_split", string), ("fact", one_of("'os.family'", "'nope'", "'os.nope.x'", "'fqdn'")), ("is_function_available", one_of("'abs'", "'nope'", "''")), ("has_ip_address", string), ("has_interface_with", word), ("parsepson", json_text), ("loadjson", one_of("'/nope'"), value), ("loadyaml", one_of("'/nope'"), value), ("get_module_path", one_of("'stdlib'", "'nope'")), ("module_directory", one_of("'stdlib'", "'nope'")), ("dig44", nested, one_of("['a', 'b']", "['x']", "[]"), value), ("validate_legacy", type_, one_of("'validate_string'", "'validate_re'", "'validate_array'"), value), ("validate_ipv4_address", string), ("validate_ipv6_address", string), ("new", type_, value), ("new", one_of("Integer", "String", "Array", "Boolean"), value, value), ("tagged", word), ("stdlib::ensure", one_of("true", "'present'", "false", "'x'"), one_of("'file'", "'package'", "'service'", "'directory'")), ("Deferred", word, array), ("Struct", hash_), ("Object", hash_), ("Variant", value), ("Optional", value), ("Enum", value), ("Pattern", value), ("URI", hash_), ("Init", value), ("type", type_), ("String", lambda r: type_(r, 3)), ("String", lambda r: type_(r, 3), str_fmt), ("assert_type", lambda r: type_(r, 3), value), ("is_a", value, lambda r: type_(r, 3)), ("abs", moment), ("max", moment, moment), ("compare", moment, moment), ("compare", version3, version3), ("flatten", lambda r: array(r, 3)), ("to_json", lambda r: value(r, 3)), ("to_yaml", lambda r: value(r, 3)), ("type", lambda r: value(r, 3)), ("type", lambda r: value(r, 3), one_of("'generalized'", "'reduced'")),
]
METHODS = [
    ("map", collection, block1), ("filter", collection, block1), ("each", collection, block1), ("any", collection, block1), ("all", collection, block1), ("partition", collection, block1), ("index", collection, block1), ("group_by", array, block1), ("reverse_each", array, block1), ("map", lambda r: f"Integer[{small(r)}, {small(r)}]", block1), ("map", small, block1), ("map", string, block1), ("filter", small, block1),
    ("reduce", array, reducer), ("reduce(0)", array, reducer), ("reduce('s')", hash_, reducer), ("slice(2)", array, block1), ("slice(2)", array, lambda _: ""), ("slice(3)", words, lambda _: ""), ("step(2)", ints, block1), ("step(2)", ints, lambda _: ".map |$x| { $x }"), ("then", value, block1), ("lest", value, lambda _: "|| { 'lest' }"), ("with(1)", string, lambda _: "|$a, $b| { [$a, $b] }"), ("max", ints, lambda _: "|$a, $b| { compare($b, $a) }"), ("sort", words, lambda _: "|$a, $b| { compare($b, $a) }"), ("unique", words, lambda _: "|$x| { $x.downcase }"), ("delete_values", hash_, block1), ("count", words, block1), ("reverse_each", collection, lambda _: ".map |$x| { $x }"), ("tree_each", nested, lambda _: ".map |$x| { $x }"), ("filter", hash_, lambda _: "|$k, $v| { $v =~ String }"), ("map", hash_, lambda _: "|$k, $v| { [$v, $k] }"),
]
OPERATORS = ["+", "-", "*", "/", "%", "<<", ">>", "==", "!=", "<", ">", "<=", ">=", "in", "and", "or"]


def call(r, only):
    table = [c for c in CALLS if not only or c[0] == only]
    name, *makers = r.choice(table)
    args = [m(r) for m in makers]
    if r.random() < 0.08 and args:
        args[r.randrange(len(args))] = value(r)
    if r.random() < 0.02:
        args.append(value(r))
    if r.random() < 0.02 and args:
        args.pop()
    return f"{name}({', '.join(args)})"


def expression(r, only):
    if only and only not in ("operators", "methods", "types"):
        return call(r, only)
    k = 0.8 if only == "operators" else 0.72 if only == "methods" else 0.95 if only == "types" else r.random()
    if k < 0.7:
        return call(r, "")
    if k < 0.78:
        name, maker, block = r.choice(METHODS)
        return f"{maker(r)}.{name} {block(r)}".replace(" .map", ".map")
    if k < 0.9:
        sides = r.choice([(number, number), (value, value), (string, string), (array, array), (hash_, hash_), (scalar, scalar), (small, small), (words, word), (word, words), (type_, type_), (type_, type_), (string, number), (moment, moment), (version3, version3), (value, array), (array, hash_)])
        return f"{sides[0](r)} {r.choice(OPERATORS)} {sides[1](r)}"
    if k < 0.93:
        return f"{r.choice([value, string])(r)} {r.choice(['=~', '!~'])} {r.choice([type_, regex])(r)}"
    if k < 0.96:
        if r.random() < 0.15:
            return r.choice([lambda: f"{span(r)}.{r.choice(['days', 'hours', 'minutes', 'seconds', 'milliseconds', 'total_hours', 'nope', 'total_seconds'])}", lambda: f"{version3(r)}.{r.choice(['major', 'minor', 'patch', 'prerelease', 'build', 'x'])}", lambda: f"URI('http://u:p@h.example:8080/p/q?x=1#f').{r.choice(['scheme', 'host', 'port', 'path', 'query', 'fragment', 'userinfo', 'x'])}", lambda: f"{version3(r)} =~ SemVerRange({r.choice(RANGES)})", lambda: f"{version3(r)} in SemVer[{r.choice(RANGES)}]", lambda: f"Binary('{r.choice(['aGVsbG8=', 'bad!'])}').{r.choice(['length', 'empty', 'size'])}"])()
        return f"{r.choice([array, words, hash_, string, nested])(r)}[{r.choice([small, word, lambda x: small(x) + ', ' + small(x)])(r)}]"
    if k < 0.98:
        return f'"<${{{r.choice(["[", "("])[:0]}{value(r)}.then |$x| {{ $x }}}}>"'
    return r.choice([f"{value(r)} ? {{ {type_(r)} => 1, {value(r)} => 2, default => 3 }}", f"-({number(r)})", f"!({value(r)})", f"[*{value(r)}]"])


def composed(r, only):
    """An expression, at times with another one where a value stood."""
    e = expression(r, only)
    if r.random() < 0.2:
        e = f"{r.choice(['type', 'String', 'to_json', 'any2array', 'size', 'unique', 'flatten', 'Array', 'empty', 'keys', 'join', 'upcase', 'sort', 'Integer', 'Numeric'])}({e})"
    return e


def generate(r, count, only):
    seen, out, tries = set(), [], 0
    while len(out) < count and tries < count * 20:
        tries += 1
        e = composed(r, only)
        if e in seen:
            continue
        seen.add(e)
        out.append(e)
    return out
