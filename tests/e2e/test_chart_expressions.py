"""Our evaluator of Vega's expressions: the values of Vega's own, and no way out of the data."""

from playwright.sync_api import Page

from tests.e2e.chart_site import Site
from tests.e2e.chart_specs import ARMS

EXPRESSIONS = """
1 + 2 * 3 % 4 - 5 / 8
-datum.place + +'7' - ~datum.phase
datum.latency <= 200 && datum.alive || 'no' + !datum.alive
datum.place == '2' ? 'two' : datum.place === '2' ? 'never' : datum.place != 3
datum.place !== 1 | 4 ^ 6 & 3
1 << 4 >> 1 >>> 2
datum['nested']['a.b'] + datum.nested.list[1] + length(datum.nested.list)
[datum.place, [1, 'two', null, true, false], {a: datum.arm, 'b c': 2, 3: NaN}]
[NaN, E, LN2, LN10, LOG2E, LOG10E, PI, SQRT1_2, SQRT2, MIN_VALUE, MAX_VALUE]
[step, step * 2, datum.none, datum["none"]]
if(datum.place >= 0, 'yes', datum.nothing.at.all)
clamp(datum.latency, 100, 200)
[isNaN(NaN), isNaN('x'), isFinite(1 / 0), isFinite('1'), isValid(null), isDefined(datum.none)]
[abs(-2), acos(0.5), asin(0.5), atan(1), atan2(1, 2), ceil(1.2), cos(1), exp(1), floor(-1.2)]
[hypot(3, 4), log(2), max(1, 3, 2), min(), pow(2, 0.5), round(2.5), sin(1), sqrt(2), tan(1)]
[parseFloat('1.5x'), parseInt('ff', 16), parseInt('12px'), +'', -'']
[upper('aß'), lower('ÀB'), trim('  x '), substring('abcdef', 2), substring('abcdef', 4, 1)]
[split('a,b,c', ','), split('a,b,c', ',', 2)]
[replace('aXbX', 'X', '-'), replace('aXbX', /x/gi, '-')]
[test(/^p/, datum.arm), test('^W', upper(datum.arm))]
[test(regexp('WARM', 'i'), datum.arm), regexp('a', 'g')]
[test(/a/g, 'ab'), test(/a/g, 'ab')]
[join([1, 2], '-'), indexof('abc', 'c')]
[lastindexof([1, 2, 1], 1), slice([1, 2, 3], 1), reverse([1, 2])]
[sort([3, 1, 2]), sequence(3), extent([3, 1]), span([1, 5])]
[inrange(2, [1, 3]), peek([1, 2]), pluck([datum], 'arm')]
[merge({a: 1}, {b: 2}), toNumber('3'), toBoolean('false'), toString(3), toDate('2025-01-01')]
[isArray([]), isObject(datum), isString('a'), isNumber('a')]
[isDate(datum.told), isRegExp(/a/), isTuple(datum)]
[format(datum.latency, ',.2f'), format(datum.error, '.1e')]
[pad('a', 3, '-', 'left'), truncate('abcdef', 4)]
[utcFormat(datum.told, '%Y-%m-%d %H:%M'), timeFormat(0, '%Y')]
[utcParse('2025', '%Y'), monthFormat(1), dayFormat(2)]
[utc(2025, 1, 2), datetime(2025, 0, 1, 12), datetime(0)]
[time(datetime(2025, 5, 6)), utcquarter(datetime(0))]
[date(datum.told), day(datum.told), year(datum.told)]
[month(datum.told), hours(datum.told), minutes(datum.told)]
[seconds(datum.told), milliseconds(datum.told)]
[timezoneoffset(datum.told), week(datum.told), dayofyear(datum.told)]
[utcdate(datum.told), utcday(datum.told), utcyear(datum.told)]
[utcmonth(datum.told), utchours(datum.told)]
[utcminutes(datum.told), utcseconds(datum.told), utcmilliseconds(datum.told)]
[rgb('red') + '', hsl(120, 1, 0.5) + '', luminance('white'), contrast('black', 'white')]
[btoa('abc'), atob('YWJj'), quarter(datetime(2025, 7, 1))]
[lerp([0, 10], 0.3), cumulativeNormal(0.5)]
[scale('y', datum.latency), invert('y', 0.5), domain('y')]
[range('y'), bandwidth('y'), data('raw')[0].place]
"""

REFUSED = """
datum.constructor
datum['constructor']
datum[['construct' + 'or']]
datum[['__pro' + 'to__']]
datum['__pro' + 'to__']
datum.__proto__
datum.nested.list.constructor
datum[datum.rude]
[].constructor.constructor('return 1')()
datum.arm.replace
datum.nested.list.push
datum.nested.list['map']
datum.place.toString
{valueOf: 1}
{'__proto__': datum}
merge({}, datum).constructor
copy('y').domain
eval('1')
Function('1')
alert(1)
hasOwnProperty('place')
constructor('x')
isPrototypeOf(datum)
context('x')
datum.arm(1)
datum.place in datum
datum instanceof datum
"""

# Evaluates each expression for each row: "value: ..." or "refused: ...".
EVALUATE = """
async ({ expressions, rows, ast, script }) => {
  const { interpreter } = await import(script);
  const told = (key, value) => {
    const isOdd = typeof value === "number" && !Number.isFinite(value);
    return value === undefined || value instanceof RegExp || isOdd ? String(value) : value;
  };
  const problems = [];
  const kinds = Object.entries(interpreter).map(([kind, make]) => [kind, (context, tree) => {
    const run = make(context, tree);
    return (...given) => {
      try {
        return run(...given);
      } catch (problem) {
        problems.push(problem);
        throw problem;
      }
    };
  }]);
  const answers = [];
  for (const expression of expressions) {
    problems.length = 0;
    try {
      const { view } = await vegaEmbed(document.createElement("div"), {
        signals: [{ name: "step", value: 7 }],
        data: [
          { name: "raw", values: rows },
          {
            name: "rows", source: "raw",
            transform: [{ type: "formula", as: "answer", expr: expression }],
          },
        ],
        scales: [{ name: "y", domain: { data: "raw", field: "latency" }, range: [0, 1] }],
      }, {
        mode: "vega", ast, expr: Object.fromEntries(kinds), tooltip: () => {},
        actions: false, defaultStyle: false, logLevel: 0,
      });
      if (problems.length) throw problems[0];
      answers.push("value: " + JSON.stringify(view.data("rows").map((row) => row.answer), told));
      view.finalize();
    } catch (problem) {
      answers.push("refused: " + problem.message);
    }
  }
  return answers;
}
"""


def evaluate(page: Page, text: str, *, ours: bool) -> dict[str, str]:
    expressions = text.strip().splitlines()
    rows = [{**row, "rude": "constructor"} for row in ARMS]
    script = "/static/ours/interpreter.js"
    given = {"expressions": expressions, "rows": rows, "ast": ours, "script": script}
    return dict(zip(expressions, page.evaluate(EVALUATE, given), strict=True))


def test_expressions_have_the_values_that_vegas_own_evaluator_gives(page: Page, site: Site) -> None:
    page.goto(site.address(policy=False))
    ours = evaluate(page, EXPRESSIONS, ours=True)
    vegas = evaluate(page, EXPRESSIONS, ours=False)
    assert ours == vegas
    assert {name: a for name, a in ours.items() if not a.startswith("value: ")} == {}


def test_what_leads_out_of_the_data_is_refused(page: Page, site: Site) -> None:
    page.goto(site.address())
    answers = evaluate(page, REFUSED, ours=True)
    assert {name: a for name, a in answers.items() if not a.startswith("refused: ")} == {}


def test_an_event_leads_neither_to_the_window_nor_to_elements(page: Page, site: Site) -> None:
    page.goto(site.address())
    names = ["view", "target", "currentTarget", "preventDefault", "constructor", "clientX"]
    messages = page.evaluate(
        """async (names) => {
          const { interpreter } = await import("/static/ours/interpreter.js");
          const identifier = (name) => ({ type: "Identifier", name });
          const messages = [];
          addEventListener("click", (event) => names.forEach((name) => {
            const [object, property] = [identifier("event"), identifier(name)];
            const ast = { type: "MemberExpression", computed: false, object, property };
            try {
              messages.push(interpreter.event({ functions: {} }, { ast })(event));
            } catch (problem) {
              messages.push(problem.message);
            }
          }));
          document.body.dispatchEvent(
            new MouseEvent("click", { bubbles: true, view: window, clientX: 5 })
          );
          return messages;
        }""",
        names,
    )
    assert messages == ["Illegal value"] * 4 + ["Illegal property: constructor", 5]


def test_calls_that_no_parser_has_seen_are_refused(page: Page, site: Site) -> None:
    """Vega refuses unknown functions before us; trees made by hand come past it."""
    page.goto(site.address())
    messages = page.evaluate(
        """async () => {
          const { interpreter } = await import("/static/ours/interpreter.js");
          const functions = Object.create({ known: () => "called", context: {} });
          const call = (callee) => ({ type: "CallExpression", callee, arguments: [] });
          const named = (name) => call({ type: "Identifier", name });
          const trees = [
            named("known"), named("context"), named("hasOwnProperty"), named("constructor"),
            named("toString"), named("eval"), call(named("known")), { type: "NewExpression" },
            { type: "BinaryExpression", operator: "in" }, { type: "toString" },
          ];
          return trees.map((ast) => {
            try {
              return interpreter.operator({ functions }, { ast })({});
            } catch (problem) {
              return problem.message;
            }
          });
        }"""
    )
    unknown = ["context", "hasOwnProperty", "constructor", "toString", "eval"]
    assert messages == [
        "called",
        *(f"Unrecognized function: {name}" for name in unknown),
        "Illegal callee type: CallExpression",
        "Unsupported type: NewExpression",
        "Unsupported operator: in",
        "Unsupported type: toString",
    ]
