// Evaluates Vega's expressions without compiling text: the page's policy forbids `eval`.
//
// Vega parses expressions itself; with `{ast: true}` it hands over their syntax trees. Each tree becomes
// nested closures, once, and these are called for every datum. An expression can call Vega's functions
// and those named here, by name only, and can hold no function, window or element that it found in a
// property. So none can reach what Vega does not offer, whatever text it was made from. The chart library
// has an evaluator of its own, which reads prototypes and methods, and NaN as undefined: it is not used.
//
// May touch nothing but its arguments.

const CONSTANTS = {
  NaN, E: Math.E, LN2: Math.LN2, LN10: Math.LN10, LOG2E: Math.LOG2E, LOG10E: Math.LOG10E, PI: Math.PI,
  SQRT1_2: Math.SQRT1_2, SQRT2: Math.SQRT2, MIN_VALUE: Number.MIN_VALUE, MAX_VALUE: Number.MAX_VALUE,
};

const UNARY = { "+": (a) => +a, "-": (a) => -a, "~": (a) => ~a, "!": (a) => !a };

const BINARY = {
  "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b,
  "%": (a, b) => a % b,
  "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b,
  "==": (a, b) => a == b, "!=": (a, b) => a != b, "===": (a, b) => a === b, "!==": (a, b) => a !== b,
  "&": (a, b) => a & b, "|": (a, b) => a | b, "^": (a, b) => a ^ b,
  "<<": (a, b) => a << b, ">>": (a, b) => a >> b, ">>>": (a, b) => a >>> b,
};

const numbers = (...names) => Object.fromEntries(names.map((name) => [name, Math[name]]));
const dates = (methods) => Object.fromEntries(
  Object.entries(methods).map(([name, method]) => [name, (moment) => new Date(moment)[method]()]),
);

// What the expression language has beyond the functions of Vega's context, which go before these.
const FUNCTIONS = {
  ...numbers("abs", "acos", "asin", "atan", "atan2", "ceil", "cos", "exp", "floor", "hypot", "log",
    "max", "min", "pow", "random", "round", "sin", "sqrt", "tan"),
  isNaN: Number.isNaN,
  isFinite: Number.isFinite,
  clamp: (value, low, high) => Math.max(low, Math.min(high, value)),
  now: Date.now,
  utc: Date.UTC,
  datetime: (...parts) => new Date(...parts),
  ...dates({
    date: "getDate", day: "getDay", year: "getFullYear", month: "getMonth", hours: "getHours",
    minutes: "getMinutes", seconds: "getSeconds", milliseconds: "getMilliseconds", time: "getTime",
    timezoneoffset: "getTimezoneOffset", utcdate: "getUTCDate", utcday: "getUTCDay",
    utcyear: "getUTCFullYear", utcmonth: "getUTCMonth", utchours: "getUTCHours",
    utcminutes: "getUTCMinutes", utcseconds: "getUTCSeconds", utcmilliseconds: "getUTCMilliseconds",
  }),
  length: (sequence) => sequence.length,
  parseFloat,
  parseInt,
  upper: (text) => String(text).toUpperCase(),
  lower: (text) => String(text).toLowerCase(),
  substring: (text, ...range) => String(text).substring(...range),
  split: (text, ...rest) => String(text).split(...rest),
  trim: (text) => String(text).trim(),
  btoa: (text) => btoa(text),
  atob: (text) => atob(text),
  encodeURIComponent,
  regexp: (...parts) => RegExp(...parts),
  test: (pattern, text) => RegExp(pattern).test(text),
};

// What the event at hand answers.
const OF_EVENT = new Set(["view", "item", "group", "xy", "x", "y"]);

// Names that lead from a value to the code behind it, or that make an object act when it is read.
const CLOSED = new Set([...Object.getOwnPropertyNames(Object.prototype), "prototype", "then"]);

function open(name) {
  if (CLOSED.has(name)) throw Error(`Illegal property: ${name}`);
  return name;
}

function inert(value) {
  if (typeof value === "function" || value instanceof EventTarget) throw Error("Illegal value");
  return value;
}

// The function of Vega's context with that name. Contexts inherit from each other; what they inherit
// from Object is not theirs to offer.
function offered(functions, name) {
  for (let place = functions; place && place !== Object.prototype; place = Object.getPrototypeOf(place)) {
    if (Object.hasOwn(place, name)) return typeof place[name] === "function" ? place[name] : undefined;
  }
  return undefined;
}

// Every builder takes a node and Vega's functions, and returns a closure over the names in reach: the
// parameters `_` (signals as "$name", scales as "%name"), `datum`, `event` and `item`.
const BUILDERS = {
  Literal: ({ value, regex }) => (regex ? () => new RegExp(regex.pattern, regex.flags) : () => value),

  Identifier(node) {
    const name = node.name ?? node.value; // Vega's own shortcut to a signal has no `name`
    if (Object.hasOwn(CONSTANTS, name)) return () => CONSTANTS[name];
    if (name === "datum") return (reach) => reach.datum;
    if (name === "event") return (reach) => reach.event;
    if (name === "item") return (reach) => reach.item;
    const key = `$${name}`;
    return (reach) => reach._[key];
  },

  MemberExpression(node, functions) {
    const object = build(node.object, functions);
    if (!node.computed) {
      const name = open(node.property.name);
      return (reach) => inert(object(reach)[name]);
    }
    const property = build(node.property, functions);
    return (reach) => {
      const value = object(reach);
      return inert(value[open(String(property(reach)))]); // text first: what is checked is what is read
    };
  },

  CallExpression(node, functions) {
    if (node.callee.type !== "Identifier") throw Error(`Illegal callee type: ${node.callee.type}`);
    const name = node.callee.name;
    const given = node.arguments.map((argument) => build(argument, functions));
    if (Object.hasOwn(SPECIAL, name)) return SPECIAL[name](given, functions);
    const all = (reach) => given.map((argument) => argument(reach));
    const theirs = offered(functions, name);
    if (theirs) return (reach) => theirs.apply(functions, all(reach));
    if (OF_EVENT.has(name)) return (reach) => reach.event.vega[name](...all(reach));
    if (!Object.hasOwn(FUNCTIONS, name)) throw Error(`Unrecognized function: ${name}`);
    const ours = FUNCTIONS[name];
    return (reach) => ours(...all(reach));
  },

  ArrayExpression(node, functions) {
    const elements = node.elements.map((element) => build(element, functions));
    return (reach) => elements.map((element) => element(reach));
  },

  ObjectExpression(node, functions) {
    const entries = node.properties.map(({ key, value }) => [
      open(String(key.type === "Literal" ? key.value : key.name)),
      build(value, functions),
    ]);
    return (reach) => Object.fromEntries(entries.map(([name, value]) => [name, value(reach)]));
  },

  UnaryExpression(node, functions) {
    const apply = operator(UNARY, node);
    const argument = build(node.argument, functions);
    return (reach) => apply(argument(reach));
  },

  BinaryExpression(node, functions) {
    const apply = operator(BINARY, node);
    const [left, right] = [build(node.left, functions), build(node.right, functions)];
    return (reach) => apply(left(reach), right(reach));
  },

  LogicalExpression(node, functions) {
    const [left, right] = [build(node.left, functions), build(node.right, functions)];
    if (node.operator === "&&") return (reach) => left(reach) && right(reach);
    return (reach) => left(reach) || right(reach);
  },

  ConditionalExpression(node, functions) {
    const parts = [node.test, node.consequent, node.alternate];
    return SPECIAL.if(parts.map((part) => build(part, functions)));
  },
};

// Calls that do not evaluate all their arguments, or that look up scales among the parameters.
const SPECIAL = {
  if: ([test, yes, no]) => (reach) => (test(reach) ? yes(reach) : no(reach)),
  _scale: ([name, value]) => (reach) => reach._[`%${name(reach)}`](value(reach)),
  _range: ([name]) => (reach) => reach._[`%${name(reach)}`].range(),
  _bandwidth: ([name], functions) => (reach) => functions.__bandwidth(reach._[`%${name(reach)}`]),
};

function operator(table, node) {
  if (!Object.hasOwn(table, node.operator)) throw Error(`Unsupported operator: ${node.operator}`);
  return table[node.operator];
}

function build(node, functions) {
  if (!Object.hasOwn(BUILDERS, node.type)) throw Error(`Unsupported type: ${node.type}`);
  return BUILDERS[node.type](node, functions);
}

// Marks may be given two ends, or a centre, in place of a start and a length: Vega draws from the latter.
const SWAPPED = new Set(["group", "image", "rect"]);

function settle(item, channels, marktype, [start, end, centre, length]) {
  if (channels[end] && channels[start]) {
    if (SWAPPED.has(marktype) && item[start] > item[end]) [item[start], item[end]] = [item[end], item[start]];
    item[length] = item[end] - item[start];
  } else if (channels[end]) {
    item[start] = item[end] - (item[length] || 0);
  }
  if (channels[centre]) item[start] = item[centre] - (item[length] || 0) / 2;
}

// What a Vega view asks of its option `expr`: functions of the arguments that Vega passes.
export const interpreter = {
  operator(ctx, { ast }) {
    const run = build(ast, ctx.functions);
    return (_) => run({ _ });
  },

  parameter(ctx, { ast }) {
    const run = build(ast, ctx.functions);
    return (datum, _) => run({ _, datum });
  },

  event(ctx, { ast }) {
    const run = build(ast, ctx.functions);
    return (event) => run({ event });
  },

  handler(ctx, { ast }) {
    const run = build(ast, ctx.functions);
    return (_, event) => run({ _, event, datum: event.item && event.item.datum });
  },

  // The answer tells Vega whether the item has changed; channels see what those before them have set.
  encode(ctx, { marktype, channels }) {
    const setter = ([name, expr]) => [open(name), build(expr.ast, ctx.functions)];
    const setters = Object.entries(channels).map(setter);
    return (item, _) => {
      const reach = { _, item, datum: item.datum };
      let changed = 0;
      for (const [name, value] of setters) {
        const wanted = value(reach);
        if (item[name] !== wanted) {
          item[name] = wanted;
          changed = 1;
        }
      }
      if (marktype !== "rule") {
        settle(item, channels, marktype, ["x", "x2", "xc", "width"]);
        settle(item, channels, marktype, ["y", "y2", "yc", "height"]);
      }
      return changed;
    };
  },
};
