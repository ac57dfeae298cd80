import { median, type Ratio, ratioTo } from './ratios.ts';
import type { Results } from './rounds.ts';

const REFERENCES = ['direct', 'nginx', 'llama.cpp'] as const;

function short(value: number): string {
  if (!Number.isFinite(value)) return '-';
  if (value >= 1000) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}

const spread = (ratio: Ratio | null): string => (ratio ? `[${short(ratio.min)}-${short(ratio.max)}]` : '');

/** One scenario as text: each figure of each target, its ratio to direct and to nginx, and the spread of the last. */
export function table(name: string, results: Results[string]): string {
  const targets = Object.keys(results);
  const references = REFERENCES.filter((each) => results[each]);
  const figures = [...new Set(targets.flatMap((target) => Object.keys(results[target] ?? {})))];
  const lines = [`\n## ${name}   (median; x ${references.join(', x ')}; [min-max] of the last)`];
  for (const figure of figures) {
    if (figure === 'bad' && targets.every((target) => Math.max(...(results[target]?.bad ?? [0])) === 0))
      continue;
    for (const target of targets) {
      const values = results[target]?.[figure];
      if (!values) continue;
      const ratios = references.map((reference) => ratioTo(values, results[reference]?.[figure]));
      const shown = ratios.map((ratio) => short(ratio?.median ?? Number.NaN).padStart(7)).join(' ');
      const value = short(figure === 'bad' ? Math.max(...values) : median(values));
      lines.push(
        `  ${figure.padEnd(14)} ${target.padEnd(9)} ${value.padStart(9)}  x ${shown}  ${spread(ratios.at(-1) ?? null)}`,
      );
    }
  }
  return lines.join('\n');
}
