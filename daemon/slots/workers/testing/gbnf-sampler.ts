/** Picks one of `count` items. */
export type Pick = (count: number) => number;

type Node =
  | { type: 'text'; text: string }
  | { type: 'set'; ranges: [number, number][]; negated: boolean }
  | { type: 'rule'; name: string }
  | { type: 'row'; parts: Node[] }
  | { type: 'choice'; options: Node[] }
  | { type: 'repeat'; what: Node; min: number; max: number };

/**
 * Maximum additional repetitions of an open repetition, and the depth beyond which the shortest path is used.
 */
const MORE = 4;
const DEEP = 12;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/**
 * Creates a sampler of random texts that a GBNF grammar matches, for the subset of GBNF that our grammars
 * use.
 */
export function gbnfSampler(grammar: string): (pick: Pick) => string {
  const rules = new Map<string, Node>();
  for (const line of grammar.split('\n')) {
    const at = line.indexOf(' ::= ');
    rules.set(line.slice(0, at), new Reader(line.slice(at + 5)).all());
  }
  const draw = (node: Node, pick: Pick, depth: number): string => {
    switch (node.type) {
      case 'text':
        return node.text;
      case 'set':
        return character(node, pick);
      case 'rule':
        return draw(rules.get(node.name) as Node, pick, depth + 1);
      case 'row':
        return node.parts.map((part) => draw(part, pick, depth)).join('');
      case 'choice': {
        // None of our rules lists the options that end soonest first, so a deep one uses the shortest text.
        const options = depth > DEEP ? [shortest(node.options)] : node.options;
        return draw(options[pick(options.length)] as Node, pick, depth);
      }
      case 'repeat': {
        const max = Math.min(node.max, node.min + (depth > DEEP ? 0 : MORE));
        const times = node.min + pick(max - node.min + 1);
        return Array.from({ length: times }, () => draw(node.what, pick, depth)).join('');
      }
    }
  };
  const cost = (node: Node, visited: ReadonlySet<string>): number => {
    if (node.type === 'rule')
      return visited.has(node.name)
        ? 1e6
        : 1 + cost(rules.get(node.name) as Node, new Set([...visited, node.name]));
    if (node.type === 'row') return node.parts.reduce((sum, part) => sum + cost(part, visited), 0);
    if (node.type === 'choice') return Math.min(...node.options.map((option) => cost(option, visited)));
    return node.type === 'repeat' ? node.min * cost(node.what, visited) : 1;
  };
  const shortest = (options: readonly Node[]): Node =>
    [...options].sort((a, b) => cost(a, new Set()) - cost(b, new Set()))[0] as Node;
  return (pick) => draw({ type: 'rule', name: 'root' }, pick, 0);
}

function character({ ranges, negated }: Node & { type: 'set' }, pick: Pick): string {
  if (!negated) {
    const [from, to] = ranges[pick(ranges.length)] as [number, number];
    return String.fromCodePoint(from + pick(Math.min(to - from + 1, 300)));
  }
  for (;;) {
    const code = [0x20 + pick(0x5f), 0xe0 + pick(0x20), 0x4e00 + pick(0x100), 0x1f300 + pick(0x80)][
      pick(4)
    ] as number;
    if (!ranges.some(([from, to]) => code >= from && code <= to)) return String.fromCodePoint(code);
  }
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  all(): Node {
    const options = [this.#row()];
    while (this.#text[this.#at] === '|') {
      this.#at += 1;
      options.push(this.#row());
    }
    return options.length === 1 ? (options[0] as Node) : { type: 'choice', options };
  }

  #row(): Node {
    const parts: Node[] = [];
    for (
      this.#space();
      this.#at < this.#text.length && !'|)'.includes(this.#text[this.#at] as string);
      this.#space()
    )
      parts.push(this.#repeated(this.#one()));
    return { type: 'row', parts };
  }

  #one(): Node {
    const start = this.#text[this.#at] as string;
    if (start === '(') {
      this.#at += 1;
      const inner = this.all();
      this.#at += 1;
      return inner;
    }
    if (start === '"') return this.#literal();
    if (start === '[') return this.#set();
    const name = /^[a-z0-9]+/.exec(this.#text.slice(this.#at))?.[0];
    if (name === undefined) throw new Error(`not read: ${this.#text.slice(this.#at, this.#at + 40)}`);
    this.#at += name.length;
    return { type: 'rule', name };
  }

  #repeated(what: Node): Node {
    const found = /^(?:([*+?])|\{(\d+)(,)?(\d*)\})/.exec(this.#text.slice(this.#at));
    if (found === null) return what;
    this.#at += found[0].length;
    const [, sign, from, comma, to] = found;
    if (sign !== undefined)
      return {
        type: 'repeat',
        what,
        min: sign === '+' ? 1 : 0,
        max: sign === '?' ? 1 : Number.POSITIVE_INFINITY,
      };
    const max = comma === undefined ? Number(from) : to === '' ? Number.POSITIVE_INFINITY : Number(to);
    return { type: 'repeat', what, min: Number(from), max };
  }

  #literal(): Node {
    let text = '';
    this.#at += 1;
    while (this.#text[this.#at] !== '"') text += this.#char();
    this.#at += 1;
    return { type: 'text', text };
  }

  #set(): Node {
    this.#at += 1;
    const negated = this.#text[this.#at] === '^';
    if (negated) this.#at += 1;
    const ranges: [number, number][] = [];
    while (this.#text[this.#at] !== ']') {
      const from = this.#char().codePointAt(0) as number;
      const spans = this.#text[this.#at] === '-' && this.#text[this.#at + 1] !== ']';
      if (spans) this.#at += 1;
      ranges.push([from, spans ? (this.#char().codePointAt(0) as number) : from]);
    }
    this.#at += 1;
    return { type: 'set', ranges, negated };
  }

  #char(): string {
    const char = String.fromCodePoint(this.#text.codePointAt(this.#at) as number);
    this.#at += char.length;
    if (char !== '\\') return char;
    const sign = this.#text[this.#at++] as string;
    const digits = { x: 2, u: 4, U: 8 }[sign];
    if (digits === undefined) return ESCAPES[sign] ?? sign;
    const code = Number.parseInt(this.#text.slice(this.#at, this.#at + digits), 16);
    this.#at += digits;
    return String.fromCodePoint(code);
  }

  #space(): void {
    while (this.#text[this.#at] === ' ') this.#at += 1;
  }
}
