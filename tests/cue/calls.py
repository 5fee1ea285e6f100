"""Random calls of the built-in functions of CUE, and operators, as expressions that stand on their own."""
import random

# What a parameter takes: i int, s string, b bytes or string, n number, l list, t anything, B bool, S struct, # and % numbers that
# are not far from 0. Further letters stand for strings of a certain form.
FUNCTIONS = {
    "crypto/ed25519": {"Valid": "bbb"},
    "crypto/hmac": {"Sign": "hbb"},
    "crypto/md5": {"Sum": "b"},
    "crypto/sha1": {"Sum": "b"},
    "crypto/sha256": {"Sum256": "b", "Sum224": "b"},
    "crypto/sha512": {"Sum512": "b", "Sum384": "b", "Sum512_224": "b", "Sum512_256": "b"},
    "encoding/base64": {"EncodedLen": "Ni", "DecodedLen": "Ni", "Encode": "Nb", "Decode": "N6"},
    "encoding/csv": {"Encode": "L", "Decode": "c"},
    "encoding/hex": {"EncodedLen": "i", "DecodedLen": "i", "Decode": "x", "Dump": "b", "Encode": "b"},
    "encoding/json": {"Valid": "j", "Compact": "j", "Indent": "jss", "HTMLEscape": "j", "Marshal": "t", "MarshalStream": "l",
                      "UnmarshalStream": "j", "Unmarshal": "j", "Validate": "jt"},
    "encoding/toml": {"Marshal": "t", "Unmarshal": "o"},
    "encoding/yaml": {"Marshal": "t", "MarshalStream": "l", "Unmarshal": "y", "UnmarshalStream": "y", "Validate": "yt",
                      "ValidatePartial": "yt"},
    "html": {"Escape": "w", "Unescape": "w"},
    "list": {"Drop": "li", "FlattenN": "li", "Repeat": "l%", "Concat": "L", "Take": "li", "Slice": "lii", "Reverse": "l",
             "MinItems": "li", "MaxItems": "li", "UniqueItems": "l", "Contains": "lt", "MatchN": "lit", "Avg": "M", "Max": "M",
             "Min": "M", "Product": "M", "Range": "###", "Sum": "M", "Sort": "lC", "SortStable": "lC", "SortStrings": "Q",
             "IsSorted": "lC", "IsSortedStrings": "Q"},
    "math/bits": {"Lsh": "i%", "Rsh": "i%", "At": "i%", "Set": "i%i", "And": "ii", "Or": "ii", "Xor": "ii", "Clear": "ii",
                  "OnesCount": "i", "Len": "i"},
    "math": dict({name: "n" for name in """Floor Ceil Trunc Round RoundToEven Abs Acosh Asin Acos Asinh Atan Atanh Cbrt Erf Erfc
                 Erfinv Erfcinv Exp Exp2 Expm1 Gamma J0 Y0 J1 Y1 Log Log10 Log2 Log1p Logb Ilogb Signbit Cos Sin Sinh Cosh
                 Sqrt Tan Tanh""".split()},
                 **{name: "nn" for name in "MultipleOf Atan2 Copysign Dim Hypot Mod Pow Remainder".split()},
                 Jacobi="ii", Jn="in", Yn="in", Ldexp="n%", Pow10="%"),
    "net": dict({name: "a" for name in """IPv4 IPv6 IP LoopbackIP MulticastIP InterfaceLocalMulticastIP LinkLocalMulticastIP
                LinkLocalUnicastIP GlobalUnicastIP UnspecifiedIP ToIP4 ToIP16 IPString ParseIP SplitHostPort FQDN""".split()},
                JoinHostPort="ap", IPCIDR="d", AddIP="ai", AddIPCIDR="di", ParseCIDR="d", InCIDR="ad", CompareIP="aa",
                PathEscape="u", PathUnescape="u", QueryEscape="u", QueryUnescape="u", URL="u", AbsURL="u"),
    "path": {"Split": "fO", "SplitList": "fO", "Join": "FO", "Match": "gfO", "Clean": "fO", "ToSlash": "fO", "FromSlash": "fO",
             "Ext": "fO", "Resolve": "ffO", "Rel": "ffO", "Base": "fO", "Dir": "fO", "IsAbs": "fO", "VolumeName": "fO"},
    "regexp": {"Find": "rs", "FindAll": "rsi", "FindAllNamedSubmatch": "Rsi", "FindAllSubmatch": "rsi", "FindNamedSubmatch": "Rs",
               "FindSubmatch": "rs", "ReplaceAll": "rsT", "ReplaceAllLiteral": "rsT", "Valid": "r", "Match": "rs",
               "QuoteMeta": "r"},
    "strconv": {"Unquote": "q", "ParseBool": "k", "FormatBool": "B", "ParseFloat": "mi", "ParseNumber": "m", "ParseUint": "mii",
                "ParseInt": "mii", "Atoi": "m", "FormatFloat": "nGii", "FormatUint": "ii", "FormatInt": "ii", "Quote": "s",
                "QuoteToASCII": "s", "QuoteToGraphic": "s", "QuoteRune": "i", "QuoteRuneToASCII": "i",
                "QuoteRuneToGraphic": "i", "IsPrint": "i", "IsGraphic": "i"},
    "strings": {"ByteAt": "bi", "ByteSlice": "bii", "Runes": "s", "Repeat": "s%", "MinRunes": "si", "MaxRunes": "si", "ToTitle": "s",
                "ToCamel": "s", "SliceRunes": "sii", "Compare": "ss", "Count": "ss", "Contains": "ss", "ContainsAny": "ss",
                "LastIndex": "ss", "IndexAny": "ss", "LastIndexAny": "ss", "SplitN": "ssi", "SplitAfterN": "ssi",
                "Split": "ss", "SplitAfter": "ss", "Fields": "s", "Join": "Qs", "HasPrefix": "ss", "HasSuffix": "ss",
                "ToUpper": "s", "ToLower": "s", "Trim": "ss", "TrimLeft": "ss", "TrimRight": "ss", "TrimSpace": "s",
                "TrimPrefix": "ss", "TrimSuffix": "ss", "Replace": "sssi", "Index": "ss"},
    "struct": {"MinFields": "Si", "MaxFields": "Si"},
    "text/tabwriter": {"Write": "Q"},
    "text/template": {"Execute": "et", "HTMLEscape": "w", "JSEscape": "w"},
    "time": {"Duration": "D", "FormatDuration": "i", "ParseDuration": "D", "Time": "z", "Format": "zZ", "FormatString": "Zz",
             "Parse": "Zz", "Unix": "ii", "ToUnix": "z", "ToUnixNano": "z", "Split": "z"},
    "uuid": {"Valid": "U", "Parse": "U", "URN": "U", "FromInt": "i", "ToInt": "U", "Variant": "U", "Version": "U", "SHA1": "Ub",
             "MD5": "Ub"},
    "": {"len": "t", "close": "S", "and": "l", "or": "l", "div": "ii", "mod": "ii", "quo": "ii", "rem": "ii",
         "matchN": "il", "matchIf": "ttt", "error": "s"},
}

CONSTANTS = {
    "crypto/ed25519": "PublicKeySize", "crypto/hmac": "MD5 SHA1 SHA224 SHA256 SHA384 SHA512 SHA512_224 SHA512_256",
    "crypto/md5": "Size BlockSize", "crypto/sha1": "Size BlockSize", "crypto/sha256": "Size Size224 BlockSize",
    "crypto/sha512": "Size Size224 Size256 Size384 BlockSize", "list": "Comparer Ascending Descending",
    "math": "MaxExp MinExp MaxPrec ToNearestEven ToNearestAway ToZero AwayFromZero ToNegativeInf ToPositiveInf Below Exact Above "
            "MaxBase E Pi Phi Sqrt2 SqrtE SqrtPi SqrtPhi Ln2 Log2E Ln10 Log10E",
    "net": "IPv4len IPv6len", "path": "Unix Windows Plan9", "strconv": "IntSize",
    "time": "Nanosecond Microsecond Millisecond Second Minute Hour ANSIC UnixDate RubyDate RFC822 RFC822Z RFC850 RFC1123 RFC1123Z "
            "RFC3339 RFC3339Nano RFC3339Date Kitchen Kitchen24 January February March April May June July August September "
            "October November December Sunday Monday Tuesday Wednesday Thursday Friday Saturday",
    "uuid": "ns.DNS ns.URL ns.OID ns.X500 ns.Nil",
}

WORDS = ["", "a", "abc", "a b c", "Hello World", "ÄÖÜ straße", "日本語", "a,b,,c", "  padded\\t\\n", "x=1;y=2", "éa\\u0301", "ﬁ ǅ", "0",
         "a-b_c", "AAA", "aXbXc", "tab\\there", "new\\nline", "\\u2028", "😀 smile", "\\u00a0nbsp", "quo\\\"te", "back\\\\slash", "\\u0000",
         "aaaa", "ab", "X", " ", "-", "foo.bar", "/a/b", "true", "null", "ǆ", "İi", "\\u200b", "ß"]
INTEGERS = ["0", "1", "2", "3", "-1", "5", "7", "8", "10", "16", "36", "37", "62", "63", "64", "65", "100", "128", "255", "256", "-5", "1000",
            "0x1F", "1_000", "9223372036854775807", "9223372036854775808", "18446744073709551616", "-9223372036854775808",
            "1K", "2Mi", "1114111", "55296", "8364", "32", "340282366920938463463374607431768211455",
            "123456789012345678901234567890"]
FLOATS = ["0.0", "1.0", "1.5", "2.5", "-0.5", "3.14159", "1e3", "1e-3", "1e100", "1e-100", "-2.25", "0.1", "100.25", "1.5e10", "-1e-7", "0.999",
          "12345678901234567890.123456789", "1e400", "0.3333333333333333333333333333333333333", "2.0", "10.0", "-3.0", "1.0e0",
          ".5", "1.", "99.995", "1E+2", "1.5K"]
REGEXPS = ["a", "a+", "[a-c]+", "(a)(b)?", "^a", "c$", "\\\\d+", "(?i)HELLO", "(?P<x>\\\\w)(?P<y>\\\\w*)", "", ".", "(", "[", "a{2}", "a**",
           "\\\\pL+", "\\\\bfoo", "x*", "(?P<first>\\\\w+)\\\\s(?P<second>\\\\w+)", "a|b", "[^a]", "(?s).*", "\\\\Qa.b\\\\E", "(?=a)", "\\\\1",
           "[[:alpha:]]+", "(?P<n>.)", "\\\\x{65E5}", "a{1001}", "(?:a|b)+c"]
TEXTS = {
    "h": ["MD5", "SHA1", "SHA224", "SHA256", "SHA384", "SHA512", "SHA512_224", "SHA512_256", "sha1", ""],
    "6": ["", "YQ==", "YWJj", "YQ", "!!", "YWJj\\n", "_-8=", "/+8=", "YWJjZA==", "====", "日本"],
    "x": ["", "61", "616263", "6", "zz", "DEADbeef", "0x61", "61 62"],
    "c": ["a,b\\nc,d\\n", "a,b\\nc\\n", "\\\"a\\\"\\\"b\\\",c\\n", "", "a;b", "a,\\\"b", "x\\\"y,z\\n", "#c\\na\\n", "\\n\\na,b", "a, b ,\\\" c\\\"", "\\\"multi\\nline\\\",x"],
    "j": ["{}", "[]", "{\\\"a\\\": 1}", "[1, 2.0, \\\"x\\\", null, true]", "1", "\\\"s\\\"", "{\\\"a\\\": {\\\"b\\\": [1,2]}}", "{\\\"a\\\": 1}\\n{\\\"a\\\": 2}", "{", "",
          "nul", "{\\\"a\\\":1,}", "{\\\"a\\\":1,\\\"a\\\":2}", "[1e5, 1E5, -0, 0.10]", "\\\"<&>\\u2028\\\"", "1 2 3", "{\\\"<\\\": \\\"&\\\"}", "\\\"\\\\ud83d\\\\ude00\\\"",
          "[01]", "\\\"\\\\x\\\"", "{\\\"a b\\\": 1, \\\"_h\\\": 2, \\\"#d\\\": 3}", "tru", "// c\\n1", "[1,2", "  7  ", "-", "1.", "{\\\"a\\\" 1}", "1e400"],
    "o": ["", "a = 1", "a = 1\\nb = \\\"x\\\"", "[t]\\na = 1.5", "[[t]]\\na = 1\\n[[t]]\\na = 2", "a.b = true", "a = [1, 2]", "a = {b = 1}", "a =", "a = 1\\na = 2",
          "d = 2020-01-02", "d = 2020-01-02T03:04:05Z", "n = 0x1F", "n = 1_000", "f = inf", "f = nan", "s = '''x\\ny'''", "\\\"q k\\\" = 1", "[a]\\n[a]",
          "t = 12:30:00", "x = 1e3", "n = 0o17", "a = \\\"\\\\u00e9\\\""],
    "y": ["", "a: 1", "- 1\\n- 2", "a: [1, 2]", "a: {b: c}", "x", "null", "~", "true", "yes", "1.0", "0x1F", "0o17", "017", "1_000", "a: &x 1\\nb: *x", "a: |\\n  text\\n  more\\n",
          "a: >-\\n  fold\\n  ed\\n", "---\\na: 1\\n---\\na: 2\\n", "a: 1\\na: 2", "a: [", "\\\"q\\\"", "'it''s'", "2020-01-02", "12:30", ".inf", ".nan", "1e3", "!!str 1",
          "a: !!binary YQ==", "? a\\n: b", "{a: 1, b}", "a: b: c", "\\t- 1", "# only\\n", "a:\\n- 1\\n- b: 2", "<<: {a: 1}\\nb: 2", "*nope", "-0", "+1", "on", "1: x\\n2: y",
          "a: 'x", "!!int \\\"3\\\"", "%YAML 1.2\\n---\\na", "a:   \\n  b:\\n", "- - 1\\n  - 2"],
    "w": ["<a href=\\\"x\\\">&amp;</a>", "&lt;&gt;&quot;&#39;&eacute;&#x41;&#65;", "plain", "'single'", "&unknown; &amp", "\\u2028<script>", "a=b&c=d", "", "&notit;", "&#0;&#128;"],
    "a": ["127.0.0.1", "10.0.0.1", "::1", "fe80::1", "ff02::1", "224.0.0.1", "0.0.0.0", "::", "256.0.0.1", "1.2.3", "8.8.8.8", "::ffff:1.2.3.4", "2001:db8::8a2e:370:7334",
          "example.com", "a.b.c:80", "[::1]:443", ":80", "host:", "host", "1.2.3.4:80", "fe80::1%eth0", "ff01::1", "169.254.1.1", "255.255.255.255", "-bad-.com",
          "", "01.02.03.04", "xn--bcher-kva.example", "a..b", "localhost:http", "[::1", "x:y:z", "2001:DB8::1", "1.2.3.4.", "_srv.example.com"],
    "p": ["80", "http", "", "99999", "0"],
    "d": ["10.0.0.0/8", "192.168.1.0/24", "10.0.0.5/8", "::/0", "2001:db8::/32", "1.2.3.4/33", "1.2.3.4", "fe80::/10", "0.0.0.0/0", "1.2.3.4/32", "x/8", "10.0.0.0/-1", "", "255.255.255.255/32",
          "2001:db8::1/129"],
    "u": ["http://example.com/a?b=c#d", "a b", "a%20b", "a+b", "%zz", "/path/only", "//host/path", "mailto:x@y", "http://[::1]:80/", "ü/日本", "a&b=c;d", "", "http://a b/", "%", ":x", "HTTP://X",
          "http://x:port/", "?q", "a:b", "http://user:pw@h/", "1http://x", "\\u007f"],
    "f": ["", "/", "a", "a/b", "/a/b/", "a//b", "../a", "./a", "a/../b", "/../a", "a.txt", ".hidden", "a.tar.gz", "a/b.c/d", "C:\\\\\\\\a\\\\\\\\b", "c:/x", "\\\\\\\\\\\\\\\\host\\\\\\\\share\\\\\\\\x",
          "a\\\\\\\\b", "a:b", "a;b", "/a/./b/../../c", "a/b/..", "...", "日本/x", "C:", "\\\\\\\\a", "//host/share/x", "/a:/b:"],
    "g": ["*", "a*", "?", "[a-c]", "*.txt", "a/*", "[", "[^a]*", "**", "\\\\\\\\*", "a/b", "[]", "a/?", "*/b"],
    "q": ["\\\"a\\\"", "'a'", "`raw`", "\\\"a\\\\nb\\\"", "\\\"", "abc", "\\\"\\\\u00e9\\\"", "\\\"\\\"", "'ab'", "\\\"a", "'\\\\''", "\\\"\\\"\\\"\\n x\\n \\\"\\\"\\\"", "#\\\"a\\\"#", "\\\"\\\\x41\\\""],
    "k": ["true", "false", "1", "0", "T", "f", "TRUE", "yes", "", "True", "tRUE"],
    "m": ["1", "-1", "0", "1.5", "1e5", "0x1F", "1_000", "abc", "", " 1", "9223372036854775808", "inf", "NaN", "-Infinity", "0b101", "0o17", "017", "zz", "1e400", "1K", "+5", "1Mi", ".5", "5.",
          "1e-400", "0x1p-2", "255", "-129", "ff", "18446744073709551615"],
    "D": ["1h", "1h30m", "1.5s", "-2m", "0", "100ms", "1us", "1µs", "1ns", "1d", "", "1", "1h-1m", ".5h", "1e3s", "9999999h", "+1s", "1h 2m", "2562047h47m16.854775807s"],
    "z": ["2020-01-02T03:04:05Z", "2020-01-02T03:04:05.678Z", "2020-01-02T03:04:05+02:00", "2020-02-30T00:00:00Z", "2020-01-02", "not a time", "1969-12-31T23:59:59Z", "0001-01-01T00:00:00Z",
          "9999-12-31T23:59:59.999999999Z", "2020-01-02T24:00:00Z", "2020-01-02t03:04:05z", "Mon, 02 Jan 2006 15:04:05 MST", "3:04PM", "2024-02-29T12:00:00-07:30", "", "15:04",
          "2020-01-02 03:04:05", "2020-1-2T03:04:05Z", "02 Jan 06 15:04 MST", "2020-12-31T23:59:60Z", "Thu Jan  2 03:04:05 2020"],
    "U": ["6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8", "{6ba7b810-9dad-11d1-80b4-00c04fd430c8}",
          "6ba7b8109dad11d180b400c04fd430c8", "not-a-uuid", "", "00000000-0000-0000-0000-000000000000", "f47ac10b-58cc-4372-a567-0e02b2c3d479", "f47ac10b-58cc-4372-a567-0e02b2c3d47",
          "ffffffff-ffff-ffff-ffff-ffffffffffff", "g47ac10b-58cc-4372-a567-0e02b2c3d479", "f47ac10b-58cc-4372-e567-0e02b2c3d479"],
    "e": ["{{.}}", "{{.a}}", "{{range .}}{{.}},{{end}}", "{{if .a}}yes{{else}}no{{end}}", "{{", "{{.a.b}}", "{{len .}}", "{{printf \\\"%d-%s\\\" 1 \\\"x\\\"}}", "plain", "{{with .a}}{{.}}{{end}}",
          "{{range $k, $v := .}}{{$k}}={{$v}};{{end}}", "{{index . 0}}", "{{eq 1 1}}", "{{.a | printf \\\"%v\\\"}}", "{{define \\\"t\\\"}}T{{end}}{{template \\\"t\\\"}}", "{{/* c */}}x", "  {{- 1 -}}  ", "{{html \\\"<\\\"}}",
          "{{nofunc}}", "{{and 1 0}}", "{{not true}}", "{{slice \\\"abc\\\" 1 2}}", "{{printf \\\"%q %5d %x\\\" \\\"a\\\" 3 255}}", "{{end}}", "{{js \\\"'\\\"}}", "{{urlquery \\\"a b\\\"}}", "{{lt 1 2}}", "{{range .}}{{break}}{{end}}",
          "{{printf \\\"%v\\\" .}}", "{{print 1 2 \\\"x\\\"}}", "{{println .a}}", "{{$x := 1}}{{$x}}", "{{1.5}} {{true}} {{nil}}", "{{.b}}"],
    "T": ["x", "$1", "${1}x", "$x", "${x}", "$$", "", "$0-", "$2"],
}


class Calls:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, of):
        return self.random.choice(of)

    def string(self):
        return '"' + self.pick(WORDS) + '"'

    def bytes_(self):
        return "'" + self.pick(["", "abc", "\\x00\\xff", "a b", "日本", "hello world this is rather long, longer than a line", "\\n", "it\\'s"]) + "'"

    def number(self):
        return self.pick(INTEGERS) if self.random.random() < 0.4 else self.pick(FLOATS) if self.random.random() < 0.6 else self.near()

    def near(self):
        return f"{self.random.uniform(-10, 10):.{self.random.randint(1, 8)}f}"

    def integer(self):
        if self.random.random() < 0.5:
            return str(self.random.randint(-2, 12))
        return self.pick(INTEGERS)

    def scalar(self):
        return self.pick([self.string, self.integer, self.number, self.bytes_, lambda: self.pick(["true", "false"]), lambda: "null"])()

    def list_(self, of=None, most=5):
        of = of or self.pick([self.string, self.integer, self.scalar, self.value])
        out = [of() for _ in range(self.random.randint(0, most))]
        if self.random.random() < 0.04:
            out.append("...")
        return "[" + ", ".join(out) + "]"

    def struct_(self, depth=2):
        labels = ["a", "b", "c", '"x y"', "_h", "#D", "a1", '"1"', "b?", "c!", "z", '"a-b"', "é", '"_q"']
        out = {}
        for _ in range(self.random.randint(0, 4)):
            label = self.pick(labels) if self.random.random() < 0.35 else self.pick("abcz")
            out[label] = self.value(depth - 1)
        return "{" + ", ".join(f"{k}: {v}" for k, v in out.items()) + "}"

    def value(self, depth=2):
        if depth <= 0 or self.random.random() < 0.4:
            return self.scalar()
        if self.random.random() < 0.06:
            return self.pick(["int", "string", ">5", "_", "*1 | int", "bool", "1 | 2", ">=0 & <10", "number", "{...}", "[...int]", "!=null"])
        return self.list_(lambda: self.value(depth - 1), 4) if self.random.random() < 0.5 else self.struct_(depth)

    def argument(self, kind):
        r = self.random.random()
        if r < 0.06:  # of the wrong kind
            return self.value()
        if r < 0.075:
            return self.pick(["int", "string", "_", "null", "bytes", "_|_", "[]", "{}", "number", "bool"])
        if kind in TEXTS:
            text = self.pick(TEXTS[kind])
            if self.random.random() < 0.1 and kind != "h":
                text = text + self.pick(TEXTS[kind])
            if kind == "a" and self.random.random() < 0.15:
                return self.pick(["[127, 0, 0, 1]", "[1, 2, 3]", "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]", "[256, 0, 0, 1]", "'\\x7f\\x00\\x00\\x01'", "[]", '["a", 1, 2, 3]'])
            if kind == "p" and self.random.random() < 0.4:
                return self.integer()
            if kind in "cjy" and self.random.random() < 0.1 and '"' not in text:
                return "'" + text.replace("'", "\\'") + "'"
            return '"' + text + '"'
        if kind == "r" or kind == "R":
            return '"' + self.pick(REGEXPS if kind == "r" or self.random.random() < 0.2 else [x for x in REGEXPS if "P<" in x]) + '"'
        return {
            "#": lambda: self.pick([str(self.random.randint(-20, 20)), self.near(), "0.5"]), "%": lambda: str(self.random.randint(-3, 200)),
            "i": self.integer, "s": self.string, "n": self.number, "l": self.list_, "t": self.value, "S": self.struct_,
            "b": lambda: self.pick([self.string, self.bytes_])(), "B": lambda: self.pick(["true", "false"]),
            "N": lambda: "null" if self.random.random() < 0.95 else self.value(),
            "L": lambda: self.list_(lambda: self.list_(self.pick([self.string, self.scalar]), 3), 3),
            "M": lambda: self.list_(self.pick([self.integer, self.number])),
            "Q": lambda: self.list_(self.string),
            "F": lambda: self.list_(lambda: self.argument("f")) if self.random.random() < 0.95 else self.argument("f"),
            "O": lambda: self.pick(["path.Unix", "path.Windows", "path.Plan9", '"unix"', '"windows"', '"plan9"', '"os"']),
            "C": lambda: self.pick(["list.Ascending", "list.Descending", "{x: _, y: _, less: x.a < y.a}", "{T: {a: int}, x: T, y: T, less: x.a < y.a}", "{x: string, y: string, less: len(x) < len(y)}"]),
            "G": lambda: self.pick(["101", "102", "103", "69", "71", "98", "120", '"f"', "'e'", "'g'", "0"]),
            "Z": lambda: self.pick(["time." + n for n in "ANSIC UnixDate RFC822 RFC822Z RFC850 RFC1123 RFC1123Z RFC3339 RFC3339Nano RFC3339Date Kitchen Kitchen24".split()] +
                                   ['"2006-01-02"', '"Jan _2 06 3:04PM"', '"02.01.2006 15:04:05.000"', '"Monday MST -07"', '""', '"x"', '"2006-002"']),
        }[kind]()

    def call(self, package, name):
        kinds = FUNCTIONS[package][name]
        args = [self.argument(k) for k in kinds]
        r = self.random.random()
        if r < 0.02:
            args.append(self.value())
        elif r < 0.04 and args:
            args.pop()
        head = package.split("/")[-1] + "." if package else ""
        if args and 0.04 < r < 0.12 and len(args) <= len(kinds):  # as a check
            return f"{args[0]} & {head}{name}({', '.join(args[1:])})" if len(args) > 1 else f"{args[0]} & {head}{name}"
        out = f"{head}{name}({', '.join(args)})"
        if 0.12 < r < 0.14 and head:
            out = f'"\\({out})"'
        return out

    def operator(self):
        a, b = (self.scalar() if self.random.random() < 0.7 else self.value() for _ in "ab")
        if self.random.random() < 0.5:
            a, b = self.number(), self.number()
        return self.pick([
            f"{a} + {b}", f"{a} - {b}", f"{a} * {b}", f"{a} / {b}", f"{a} == {b}", f"{a} != {b}", f"{a} < {b}", f"{a} <= {b}", f"{a} > {b}",
            f"{a} >= {b}", f"{a} & {b}", f"{a} | {b}", f"*{a} | {b}", f"!{a}", f"-{a}", f"+{a}", f"{a} && {b}", f"{a} || {b}", f'"x\\({a})y"',
            f"{a} =~ {b}", f"{a} !~ {b}", f"<{a} & {b}", f">={a} & <={b}", f">{a} & {b}", f"!={a} & {b}", f"({a})[{self.integer()}]", f"({self.list_()})[{self.integer()}]",
            f"({self.struct_()})[{self.string()}]", f"({self.list_()})[{self.integer()}:{self.integer()}]", f"div({a}, {b})", f"mod({a}, {b})", f"quo({a}, {b})",
            f"rem({a}, {b})", f"{a} div {b}", f"({self.struct_()}).a", f"{self.struct_()} & {self.struct_()}", f"{self.list_()} & {self.list_()}",
            f"<={a} & >{b}", f"int & {a}", f"float & {a}", f"number & {a}", f"uint8 & {a}", f"int32 & {a}", f"float32 & {a}", f"({a} & {b}) | {a}",
            f"{self.list_()} * {self.integer()}", f"{self.string()} * {self.integer()}", f"{self.list_()} + {self.list_()}",
            f"[for x in {self.value()} {{x}}]", f"{{for k, v in {self.value()} {{\"\\(k)\": v}}}}", f"{{if {a} == {b} {{x: 1}}}}", f'=~{self.argument("r")} & {self.string()}'])

    def all_functions(self):
        return [(p, n) for p, names in sorted(FUNCTIONS.items()) for n in sorted(names)]


def imports(text):
    """The import lines of the packages that a text refers to."""
    out = []
    for package in FUNCTIONS:
        if package and package.split("/")[-1] + "." in text:
            out.append(f'import "{package}"\n')
    return "".join(out)
