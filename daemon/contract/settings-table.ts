import { mapLines } from './model-map-text.ts';
import type { SettingRow } from './system.ts';

/** When a change of a setting takes effect. */
export const effect = (row: { live: boolean }): string => (row.live ? 'at once' : 'at the next start');

const HEADS = ['setting', 'value', 'source', 'variable', 'config.toml', 'effect', 'what it is'];

/** The settings as a plain text table, a column per fact. */
export function settingsTable(views: readonly SettingRow[]): string {
  const rows = views.map((view) => [
    view.name,
    shown(view),
    view.source,
    view.env ?? '-',
    view.toml ?? '-',
    effect(view),
    view.problem === undefined ? view.help : `${view.help} PROBLEM: ${view.problem}`,
  ]);
  const all = [HEADS, ...rows];
  const widths = HEADS.map((_, column) => Math.max(...all.map((row) => (row[column] as string).length)));
  const line = (row: string[]) => row.map((cell, column) => cell.padEnd(widths[column] as number)).join('  ');
  return `${all.map((row) => line(row).trimEnd()).join('\n')}\n`;
}

function shown(view: SettingRow): string {
  if (view.secret) return view.set ? '(set)' : '(not set)';
  if (view.value === null) return '(not set)';
  if (typeof view.value !== 'object') return String(view.value);
  const entries = Array.isArray(view.value) ? view.value.join(',') : mapLines(view.value).join('; ');
  return entries || '(none)';
}
