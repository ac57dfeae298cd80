import type { Verdict } from './goals.ts';
import { median, ratioTo, type Spread } from './ratios.ts';
import type { Results } from './rounds.ts';

const REFERENCES = ['direct', 'nginx', 'llama-swap'] as const;

function short(value: number): string {
  if (!Number.isFinite(value)) return '-';
  if (value >= 1000) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}

const spread = (ratio: Spread | null): string => (ratio ? `[${short(ratio.min)}-${short(ratio.max)}]` : '');

/** Formats one scenario: each figure of each target, its ratios to the references, and the spread of the last ratio. */
export function table(name: string, results: Results[string]): string {
  const targets = Object.keys(results);
  const references = REFERENCES.filter((each) => results[each]);
  const figures = [...new Set(targets.flatMap((target) => Object.keys(results[target] ?? {})))];
  const lines = [`\n## ${name}   (median; x ${references.join(', x ')}; [min-max] of the last)`];
  for (const figure of figures) {
    for (const target of targets) {
      const values = results[target]?.[figure];
      if (!values) continue;
      const ratios = references.map((reference) => ratioTo(values, results[reference]?.[figure]));
      const shown = ratios.map((ratio) => short(ratio?.median ?? Number.NaN).padStart(7)).join(' ');
      const value = short(figure === 'bad' ? Math.max(...values) : median(values));
      lines.push(
        `  ${figure.padEnd(14)} ${target.padEnd(10)} ${value.padStart(9)}  x ${shown}  ${spread(ratios.at(-1) ?? null)}`,
      );
    }
  }
  return lines.join('\n');
}

const UNITS = { ratio: 'x ', difference: '- ', value: '', 'worst round': '' } as const;

/** Formats the goals, one line each. */
export function goalsTable(verdicts: readonly Verdict[]): string {
  const line = ({ goal, value, spread: range, verdict, failed }: Verdict): string => {
    const unit = UNITS[goal.measure];
    const what = unit === '' ? goal.what : `${goal.what} ${unit}${goal.to ?? 'nginx'}`;
    const failures = failed > 0 ? `  ${failed} requests failed` : '';
    return `  ${what.padEnd(36)} ${short(value).padStart(8)}  ${verdict.padEnd(7)}  ${spread(range).padEnd(14)} limit ${short(goal.limit)}${failures}`;
  };
  return ['\n## goals', ...verdicts.map(line)].join('\n');
}
