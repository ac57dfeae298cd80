/** One selector of a PromQL expression. Supports the part of the language that our files use. */
export interface Selector {
  readonly name: string;
  /** The text of the selector in the expression. */
  readonly text: string;
  readonly labels: readonly string[];
}

const NAME = /(?<![\w$"])(svc_\w+|process_\w+|up)\b(\{[^}]*\})?/g;
const MATCHER = /(\w+)\s*(?:=~|!~|!=|=)\s*"/g;
const GROUPING = /\b(?:by|on|ignoring|without)\s*\(([^)]*)\)/g;

/** Every selector of an expression. */
export const selectorsOf = (expr: string): Selector[] =>
  [...expr.matchAll(NAME)].map(([text, name = '', matchers = '']) => ({
    name,
    text,
    labels: [...matchers.matchAll(MATCHER)].map(([, label = '']) => label),
  }));

/** Labels that an expression groups or joins by. */
export const groupingsOf = (expr: string): string[] =>
  [...expr.matchAll(GROUPING)].flatMap(([, list = '']) => list.split(',').map((label) => label.trim()));

/** Parses an exposition text: metric names (histograms as their series) with their labels. */
export function expositionOf(text: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const [, name = '', type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const parts = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    for (const part of parts) found.set(`${name}${part}`, new Set());
  }
  for (const [, name = '', labels = ''] of text.matchAll(/^([a-z]\w*)(?:\{(.*)\})? \S+$/gm)) {
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) found.get(name)?.add(label);
  }
  return found;
}
