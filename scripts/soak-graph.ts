// `node scripts/soak-graph.ts [soak.json [soak.svg]]`: draws what the soak has recorded.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Sample, SoakReport } from '../daemon/test/harness/soak-report.ts';

const SIZE = { width: 900, panel: 180, left: 80, right: 20, top: 50, gap: 50 };
const PLOT_WIDTH = SIZE.width - SIZE.left - SIZE.right;
const MIB = 1024 * 1024;

interface Line {
  readonly title: string;
  readonly colour: string;
  of(sample: Sample): number;
}

/** One panel each, with an axis that begins at 0, so that small changes do not look large. */
const LINES: readonly Line[] = [
  { title: 'Memory of the gateway (RSS, MiB)', colour: '#2563eb', of: (sample) => sample.rss_bytes / MIB },
  { title: 'Open descriptors', colour: '#b45309', of: (sample) => sample.fds },
  { title: 'Sockets among them', colour: '#047857', of: (sample) => sample.sockets },
];

/** Returns the next of 1, 2, 5, 10, 20 … that is at least `value`. */
export function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) ?? value;
}

const text = (x: number, y: number, words: string, more = '') =>
  `<text x="${x}" y="${y}" ${more}>${words.replace(/[<&]/g, ' ')}</text>`;

function panel(samples: readonly Sample[], line: Line, index: number): string {
  const top = SIZE.top + index * (SIZE.panel + SIZE.gap);
  const bottom = top + SIZE.panel;
  const end = Math.max(samples.at(-1)?.at ?? 0, 1e-9);
  const most = roundUp(Math.max(...samples.map((sample) => line.of(sample)), 1));
  const points = samples.map((sample) => {
    const x = SIZE.left + (sample.at / end) * PLOT_WIDTH;
    return `${x.toFixed(1)},${(bottom - (line.of(sample) / most) * SIZE.panel).toFixed(1)}`;
  });
  const right = SIZE.left + PLOT_WIDTH;
  return [
    text(SIZE.left, top - 8, line.title, 'font-weight="600"'),
    `<path d="M${SIZE.left} ${top}V${bottom}H${right}" fill="none" stroke="#9ca3af"/>`,
    text(SIZE.left - 8, top + 5, String(most), 'text-anchor="end"'),
    text(SIZE.left - 8, bottom + 5, '0', 'text-anchor="end"'),
    text(right, bottom + 18, `${Math.round(end)} s`, 'text-anchor="end"'),
    `<polyline points="${points.join(' ')}" fill="none" stroke="${line.colour}" stroke-width="1.5"/>`,
  ].join('\n');
}

/** Returns the graph of a report: memory, descriptors and sockets over time, and its figures in one line. */
export function soakGraph(report: SoakReport): string {
  const height = SIZE.top + LINES.length * (SIZE.panel + SIZE.gap);
  const served = Object.values(report.requests).reduce((sum, count) => sum + count, 0);
  const head =
    `${report.made_at.slice(0, 16)} · ${served} requests in ${report.seconds} s, ${report.lost.length} lost · ` +
    `${report.churned} acts on slots · descriptors ${report.fds.before} → ${report.fds.after}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${height}" font-family="sans-serif" font-size="13">`,
    `<rect width="${SIZE.width}" height="${height}" fill="#fff"/>`,
    text(SIZE.left, 18, head),
    ...LINES.map((line, index) => panel(report.samples, line, index)),
    '</svg>',
    '',
  ].join('\n');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const artifacts = join(import.meta.dirname, '..', 'artifacts');
  const [from = join(artifacts, 'soak.json'), to = join(artifacts, 'soak.svg')] = process.argv.slice(2);
  writeFileSync(to, soakGraph(JSON.parse(readFileSync(from, 'utf8')) as SoakReport));
  console.log(to);
}
