import { Environment, Interpreter, Template } from '@huggingface/jinja';

/** A value of a running template. The library does not export its classes. */
interface Value {
  readonly type: string;
  value: unknown;
  readonly builtins: Map<string, Value>;
  toString(): string;
}
type ValueClass<T = unknown> = new (value: T) => Value;
type Call = (args: readonly Value[]) => Value;

/** A node of a parsed template, as far as it is read here. */
interface Node {
  readonly type: string;
  readonly value?: unknown;
  readonly object?: Node;
  readonly property?: Node;
  readonly computed?: boolean;
}

/** The methods of the interpreter that are extended, two of which its types hide. */
interface Evaluator {
  evaluate(node: Node | undefined, scope: Environment): Value;
  applyFilter(operand: Value, filter: Node, scope: Environment): Value;
}

const classOf = (value: unknown): ValueClass<never> =>
  new Environment().set('value', value).constructor as unknown as ValueClass<never>;
const StringValue = classOf('') as ValueClass<string>;
const IntegerValue = classOf(1) as ValueClass<number>;
const ArrayValue = classOf([]) as ValueClass<Value[]>;
const ObjectValue = classOf({}) as ValueClass<Map<string, Value>>;
const FunctionValue = classOf(() => null) as ValueClass<Call>;
const NullValue = classOf(null) as ValueClass<null>;

const itemsOf = (list: Value): Value[] => list.value as Value[];

/** Python's `str.format` for fields without a format specification. */
function format(text: string, args: readonly Value[]): string {
  let next = 0;
  return text.replace(/\{(\d*)\}/g, (_, index: string) =>
    String(args[index === '' ? next++ : Number(index)]?.value ?? ''),
  );
}

const METHODS: readonly {
  of: ValueClass<never>;
  name: string;
  call(self: Value, args: readonly Value[]): Value;
}[] = [
  {
    of: StringValue,
    name: 'format',
    call: (self, args) => new StringValue(format(String(self.value), args)),
  },
  {
    of: ArrayValue,
    name: 'append',
    call(self, [item]) {
      if (item !== undefined) itemsOf(self).push(item);
      return new NullValue(null);
    },
  },
  {
    of: ArrayValue,
    name: 'pop',
    call: (self, [at]) =>
      itemsOf(self).splice(typeof at?.value === 'number' ? at.value : -1, 1)[0] ?? new NullValue(null),
  },
];

/** Returns the item that precedes all others (-1) or follows them (1). */
function extreme(list: Value, sign: -1 | 1): Value {
  const [first = new NullValue(null), ...rest] = itemsOf(list);
  return rest.reduce(
    (best, one) => ((one.value as number) > (best.value as number) === sign > 0 ? one : best),
    first,
  );
}

const FILTERS: readonly { of: ValueClass<never>; name: string; apply(operand: Value): Value }[] = [
  { of: ObjectValue, name: 'string', apply: (operand) => new StringValue(operand.toString()) },
  { of: ArrayValue, name: 'min', apply: (operand) => extreme(operand, -1) },
  { of: ArrayValue, name: 'max', apply: (operand) => extreme(operand, 1) },
];

/** Returns an object with numbers as keys, which the library supports neither in literals nor in `dictsort`. */
function numberedObject(entries: readonly (readonly [Node, Value])[]): Value {
  const pairs = entries.map(([key, value]) => [Number(key.value), value] as const).sort(([a], [b]) => a - b);
  const object = new ObjectValue(new Map(pairs.map(([key, value]) => [String(key), value])));
  const sorted = () =>
    new ArrayValue(pairs.map(([key, value]) => new ArrayValue([new IntegerValue(key), value])));
  for (const name of ['dictsort', 'items']) object.builtins.set(name, new FunctionValue(sorted));
  return object;
}

/** The time limit of a rendering is over. */
export class RenderTimeout extends Error {}

/** Evaluations between two readings of the clock. One evaluation may filter all messages. */
const CLOCK_INTERVAL = 64;
let deadline = Number.POSITIVE_INFINITY;
let evaluations = 0;

/** Runs `render`. Renderings within it throw {@link RenderTimeout} after `limitMs`. */
export function withTimeLimit<T>(limitMs: number, render: () => T): T {
  deadline = performance.now() + limitMs;
  try {
    return render();
  } finally {
    deadline = Number.POSITIVE_INFINITY;
  }
}

function extendBuiltins(of: ValueClass<never>): void {
  const methods = METHODS.filter((method) => method.of === of);
  const original = Object.getOwnPropertyDescriptor(of.prototype, 'builtins')?.get;
  Object.defineProperty(of.prototype, 'builtins', {
    configurable: true,
    get(this: Value): Map<string, Value> {
      const builtins = original?.call(this) as Map<string, Value>;
      for (const { name, call } of methods)
        if (!builtins.has(name)) builtins.set(name, new FunctionValue((args) => call(this, args)));
      return builtins;
    },
  });
}

/**
 * Adds what templates of models use and the library lacks: `format` of strings, `append` and `pop` of lists, `min`
 * and `max` of lists, `string` of objects, tuples in loops, numbers as keys, and a time limit.
 */
function extendInterpreter(prototype: Evaluator): void {
  const { evaluate, applyFilter } = prototype;
  prototype.applyFilter = function (operand, filter, scope) {
    const own = FILTERS.find(
      ({ of, name }) => filter.type === 'Identifier' && filter.value === name && operand instanceof of,
    );
    return own === undefined ? applyFilter.call(this, operand, filter, scope) : own.apply(operand);
  };
  prototype.evaluate = function (node, scope) {
    if (++evaluations % CLOCK_INTERVAL === 0 && performance.now() > deadline) throw new RenderTimeout();
    if (node?.type === 'TupleLiteral') return new ArrayValue(itemsOf(evaluate.call(this, node, scope)));
    if (node?.type === 'ObjectLiteral') {
      const entries = [...(node.value as Map<Node, Node>)];
      if (entries.length > 0 && entries.every(([key]) => key.type === 'IntegerLiteral'))
        return numberedObject(entries.map(([key, value]) => [key, this.evaluate(value, scope)]));
    }
    if (node?.type === 'MemberExpression' && node.computed && node.property?.type === 'IntegerLiteral') {
      const object = node.object?.type === 'Identifier' ? this.evaluate(node.object, scope) : undefined;
      if (object instanceof ObjectValue)
        return (object.value as Map<string, Value>).get(String(node.property.value)) ?? new NullValue(null);
    }
    return evaluate.call(this, node, scope);
  };
}

extendBuiltins(StringValue);
extendBuiltins(ArrayValue);
extendInterpreter(Interpreter.prototype as unknown as Evaluator);

/** The library's template with the additions of this file. */
export { Template };
