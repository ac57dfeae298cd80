import { TomlDocument } from '@decimalturn/toml-patch';
import { runSyncWithTimeout } from '../lib/async/run-with-timeout.ts';

type Home = 'root' | 'table' | 'inline';

/** The position of one `key = value`. Offsets are UTF-16 units from the start of the text. */
export interface TomlEntry {
  path: string[];
  line: number;
  valueFrom: number;
  valueTo: number;
  /** Above the first table, in a table, or inside `{ … }`. */
  home: Home;
}

/** A `[table]` header or an inline table. */
export interface TomlTableLocation {
  path: string[];
  line: number;
  kind: 'header' | 'array' | 'inline';
  /** End of the last key in it, or of the header when it has none. */
  lastEnd: number;
  /** True when it has no keys. */
  empty: boolean;
  from: number;
}

export interface TomlMap {
  entries: TomlEntry[];
  tables: TomlTableLocation[];
}

interface Point {
  line: number;
  column: number;
}
interface CstNode {
  type: string;
  loc: { start: Point; end: Point };
  key?: CstNode;
  item?: CstNode;
  items?: CstNode[];
  value?: CstNode | string[];
}

const MAP_LIMIT_MS = 3000;

/**
 * Returns the positions of keys, values and tables in TOML text without byte order mark. Throws for invalid
 * TOML.
 */
export function mapToml(text: string): TomlMap {
  return runSyncWithTimeout(() => {
    const visitor = new CstVisitor(text);
    for (const block of new TomlDocument(text).cst as unknown as CstNode[]) visitor.block(block);
    return visitor.map;
  }, MAP_LIMIT_MS);
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

class CstVisitor {
  readonly map: TomlMap = { entries: [], tables: [] };
  readonly #starts: number[];

  constructor(text: string) {
    this.#starts = lineStarts(text);
  }

  #offset(point: Point): number {
    return (this.#starts[point.line - 1] ?? 0) + point.column;
  }

  block(node: CstNode): void {
    if (node.type === 'KeyValue') this.#pair(node, [], 'root');
    if (node.type !== 'Table' && node.type !== 'TableArray') return;
    const path = names(node.key?.item);
    const pairs = (node.items ?? []).filter((item) => item.type === 'KeyValue');
    const header = node.key as CstNode;
    this.map.tables.push({
      path,
      line: header.loc.start.line,
      kind: node.type === 'Table' ? 'header' : 'array',
      lastEnd: this.#offset((pairs.at(-1) ?? header).loc.end),
      empty: pairs.length === 0,
      from: this.#offset(header.loc.start),
    });
    for (const pair of pairs) this.#pair(pair, path, 'table');
  }

  #pair(node: CstNode, base: string[], home: Home): void {
    const value = node.value as CstNode;
    const path = [...base, ...names(node.key)];
    this.map.entries.push({
      path,
      line: node.loc.start.line,
      valueFrom: this.#offset(value.loc.start),
      valueTo: this.#offset(value.loc.end),
      home,
    });
    if (value.type === 'InlineTable') this.#inlineTable(value, path);
  }

  #inlineTable(node: CstNode, path: string[]): void {
    const pairs = (node.items ?? []).map((item) => item.item as CstNode);
    const from = this.#offset(node.loc.start);
    const last = pairs.at(-1);
    this.map.tables.push({
      path,
      line: node.loc.start.line,
      kind: 'inline',
      lastEnd: last ? this.#offset(last.loc.end) : from + 1,
      empty: last === undefined,
      from,
    });
    for (const pair of pairs) this.#pair(pair, path, 'inline');
  }
}

const names = (key: CstNode | undefined): string[] => (key?.value as string[] | undefined) ?? [];
