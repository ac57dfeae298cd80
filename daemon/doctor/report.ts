import { plural } from '../lib/text/plural.ts';
import { counted, type Finding } from './finding.ts';

const ID_WIDTH = 14;
const INDENT = 6 + ID_WIDTH;
/** Replaces control characters, so that names and messages cannot control the terminal. */
const plain = (text: string): string => text.replace(/[\0-\x1f\x7f-\x9f]/g, ' ');

/** Wraps a text to at most `width` characters. Longer words stay whole. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of plain(text).split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function entry({ id, status, message, fix }: Finding, width: number): string {
  const columns = Math.max(20, width - INDENT);
  const lines = wrapped(message, columns);
  const todo =
    fix === null ? [] : wrapped(fix, columns - 2).map((line, n) => `${n === 0 ? '→' : ' '} ${line}`);
  const head = `${status.padEnd(6)}${id.padEnd(ID_WIDTH)}`;
  return [...lines, ...todo].map((line, n) => `${n === 0 ? head : ''.padEnd(INDENT)}${line}`).join('\n');
}

/** The findings for people: aligned, without colours, within `width` columns where words allow it. */
export function reportText(findings: readonly Finding[], width: number): string {
  const [failures, warnings] = [counted(findings, 'fail'), counted(findings, 'warn')];
  const sum =
    failures + warnings === 0
      ? 'No problems found.'
      : `${plural(failures, 'failure')}, ${plural(warnings, 'warning')}.`;
  return `${findings.map((one) => entry(one, width)).join('\n')}\n\n${sum}\n`;
}

/** The same for programs. */
export const reportJson = (findings: readonly Finding[]): string =>
  `${JSON.stringify(
    {
      status: counted(findings, 'fail') > 0 ? 'fail' : counted(findings, 'warn') > 0 ? 'warn' : 'ok',
      failures: counted(findings, 'fail'),
      warnings: counted(findings, 'warn'),
      findings,
    },
    null,
    2,
  )}\n`;
