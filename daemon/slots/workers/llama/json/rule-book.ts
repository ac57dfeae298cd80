import { SchemaFault } from './schema-error.ts';

/** Maximum number of rules per grammar, besides the shared ones. */
const MAX_RULES = 4_000;

/** Shared rules of all JSON grammars. Each is written only when used. */
const PRIMITIVES: Readonly<Record<string, { text: string; needs?: readonly string[] }>> = {
  ws: { text: '| " " | "\\n"{1,2} [ \\t]{0,20}' },
  // A surrogate pair counts as one character. A lone surrogate is excluded.
  char: {
    text:
      String.raw`[^"\\\x7F\x00-\x1F] | [\\] (["\\/bfnrt] | "u" ([0-9a-cA-CefEF] [0-9a-fA-F]{3} | [dD] [0-7] [0-9a-fA-F]{2} | ` +
      String.raw`[dD] [89abAB] [0-9a-fA-F]{2} "\\u" [dD] [c-fC-F] [0-9a-fA-F]{2}))`,
  },
  string: { text: String.raw`"\"" char* "\""`, needs: ['char'] },
  whole: { text: '[0] | [1-9] [0-9]{0,15}' },
  integer: { text: '"-"? whole', needs: ['whole'] },
  number: {
    text: '"-"? whole ("." [0-9]{1,16})? ([eE] [-+]? exponent)?',
    needs: ['whole', 'exponent'],
  },
  // With a larger exponent, parsers of JSON return infinity or fail.
  exponent: { text: '[0-9]{1,2} | [12] [0-8] [0-9]' },
  boolean: { text: '"true" | "false"' },
  null: { text: '"null"' },
  value: {
    text: 'object | array | string | number | boolean | null',
    needs: ['object', 'array', 'string', 'number', 'boolean', 'null'],
  },
  object: {
    text: `"{" ws (string ":" ws value ("," ws string ":" ws value)*)? ws "}"`,
    needs: ['ws', 'string', 'value'],
  },
  array: { text: '"[" ws (value ("," ws value)*)? ws "]"', needs: ['ws', 'value'] },
  date: {
    text:
      '[0-9]{4} "-" (("0" [13578] | "1" [02]) "-" ("0" [1-9] | [12] [0-9] | "3" [01]) | ("0" [469] | "11") "-" ("0" [1-9] | [12] [0-9] | "30") | ' +
      '"02-" ("0" [1-9] | "1" [0-9] | "2" [0-8])) | leap "-02-29"',
    needs: ['leap'],
  },
  leap: {
    text: '[0-9]{2} ("0" [48] | [2468] [048] | [13579] [26]) | ("0" [048] | [2468] [048] | [13579] [26]) "00"',
  },
  time: {
    text: '([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] ("." [0-9]{1,6})? ("Z" | [+-] ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9])',
  },
  email: {
    text: '[a-zA-Z0-9]+ ([._+-] [a-zA-Z0-9]+)* "@" (domain ".")+ [a-zA-Z]{2,24}',
    needs: ['domain'],
  },
  domain: { text: '[a-zA-Z0-9]{1,30} ("-" [a-zA-Z0-9]{1,30})?' },
  octet: { text: '[0-9] | [1-9] [0-9] | "1" [0-9]{2} | "2" [0-4] [0-9] | "25" [0-5]' },
  hostname: { text: 'domain ("." domain){0,3}', needs: ['domain'] },
  hextet: { text: '[0-9a-f]{1,4}' },
  count: { text: '[0-9]{1,6}' },
  duration: {
    text: '"P" (count "W" | daypart ("T" clock)? | "T" clock)',
    needs: ['count', 'daypart', 'clock'],
  },
  daypart: { text: 'count ("Y" (count "M")? (count "D")? | "M" (count "D")? | "D")', needs: ['count'] },
  clock: { text: 'count ("H" (count "M")? (count "S")? | "M" (count "S")? | "S")', needs: ['count'] },
  uri: {
    text:
      '[a-z] [a-z0-9+.-]{1,15} ":" ("//" [A-Za-z0-9._~-]+ (":" [0-9]{1,5})? | pchar+) ("/" pchar*)* ' +
      '("?" (pchar | [/?])*)? ("#" (pchar | [/?])*)?',
    needs: ['pchar'],
  },
  pchar: { text: "[A-Za-z0-9._~!$&'()*+,;=:@-]" },
  uuid: {
    text: '[0-9a-fA-F]{8} "-" [0-9a-fA-F]{4} "-" [0-9a-fA-F]{4} "-" [0-9a-fA-F]{4} "-" [0-9a-fA-F]{12}',
  },
};

/** Collects the rules of one GBNF grammar. */
export class RuleBook {
  readonly #rules = new Map<string, string>();
  #last = 0;

  /** Returns the name of a shared rule and writes it on first use. */
  primitive(name: keyof typeof PRIMITIVES & string): string {
    const rule = PRIMITIVES[name];
    if (rule !== undefined && !this.#rules.has(name)) {
      this.set(name, rule.text);
      for (const needed of rule.needs ?? []) this.primitive(needed);
    }
    return name;
  }

  /**
   * Reserves a name for a rule whose text is added later, so that it can refer to itself. Throws SchemaFault when the
   * grammar has too many rules.
   */
  reserve(): string {
    if (this.#last >= MAX_RULES) throw new SchemaFault('', 'the schema is too large');
    this.#last += 1;
    return `r${this.#last}`;
  }

  set(name: string, text: string): string {
    this.#rules.set(name, text);
    return name;
  }

  /** Adds a rule and returns its name. */
  add(text: string): string {
    return this.set(this.reserve(), text);
  }

  /** Returns the grammar that matches exactly `expression`. */
  grammar(expression: string): string {
    return [`root ::= ${expression}`, ...[...this.#rules].map(([name, text]) => `${name} ::= ${text}`)].join(
      '\n',
    );
  }
}

/** Escapes `text` as a GBNF literal. */
export function literal(text: string): string {
  const escaped = text.replace(
    /[\\"\u0000-\u001f\u007f]/g,
    (c) => ESCAPES[c] ?? `\\x${c.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`,
  );
  return `"${escaped}"`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '"': '\\"',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};
