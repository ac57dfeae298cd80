import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { row } from './markdown.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'adr');
const FILE_NAME = /^(\d{4})-[a-z0-9-]+\.md$/;

/** The areas of decisions, in the order of the index. */
export const ADR_AREAS = {
  http: 'HTTP',
  auth: 'Authentication and exposure',
  slots: 'Slots and memory',
  inference: 'Engines and inference',
  models: 'Models and pulls',
  upstreams: 'Upstreams',
  store: 'State and configuration',
  dashboard: 'Dashboard',
  packaging: 'Packaging and operation',
  tests: 'Tests',
  perf: 'Performance',
} as const;
export type AdrArea = keyof typeof ADR_AREAS;

/** The header of one decision record. */
export interface AdrHeader {
  readonly file: string;
  readonly number: string;
  readonly title: string;
  readonly date: string;
  readonly area: AdrArea;
  readonly status: string;
}

/** Reads the front matter of a decision record. Throws when a field is missing or malformed. */
export function readAdrHeader(file: string, text: string): AdrHeader {
  const [, number] = FILE_NAME.exec(file) ?? [];
  const [, block = ''] = /^---\n([\s\S]*?)\n---\n/.exec(text) ?? [];
  const field = (name: string): string => {
    const [, value] = new RegExp(`^${name}: (.+)$`, 'm').exec(block) ?? [];
    if (value === undefined) throw new Error(`${file}: the front matter has no "${name}"`);
    return value;
  };
  const [title, date, area, status] = [field('title'), field('date'), field('area'), field('status')];
  if (number === undefined) throw new Error(`${file}: must be named NNNN-title.md`);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) throw new Error(`${file}: "${date}" is not a date`);
  if (!(area in ADR_AREAS)) throw new Error(`${file}: unknown area "${area}"`);
  if (!text.includes(`\n# ADR-${number}: ${title}\n`)) throw new Error(`${file}: heading and title differ`);
  return { file, number, title, date, area: area as AdrArea, status };
}

/** All decision records, by number. */
export function adrHeaders(): readonly AdrHeader[] {
  return readdirSync(FOLDER)
    .filter((file) => FILE_NAME.test(file))
    .sort()
    .map((file) => readAdrHeader(file, readFileSync(join(FOLDER, file), 'utf8')));
}

/** Returns the index of the decision records by area, from their front matter. */
export function adrIndex(): string {
  const headers = adrHeaders();
  const line = ({ number, file, title, date, status }: AdrHeader) =>
    row(`[${number}](${file})`, title, status, date);
  const section = ([area, heading]: [string, string]) => {
    const rows = headers.filter((header) => header.area === area).map(line);
    const head = [row('number', 'decision', 'status', 'date'), row('---', '---', '---', '---')];
    return [`## ${heading}`, '', ...head, ...rows, ''].join('\n');
  };
  return `<!-- Made by npm run docs from the front matter of docs/adr/*.md. Do not edit. -->

# Decision records

For everyone who changes the code: the decisions that shape it, each with its context and consequences. To add one, copy
the form of a record here, take the next number, and run \`npm run docs\`. A record is not rewritten when a decision
changes: add a new one and set the status of the old one to \`superseded by ADR-NNNN\`.

${Object.entries(ADR_AREAS).map(section).join('\n')}`;
}
