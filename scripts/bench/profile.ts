import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The profile that V8 writes: the call tree, and the node of each sample. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

export interface HotFunction {
  /** Name, file and line. */
  readonly where: string;
  /** Milliseconds in the function itself, without its callees. */
  readonly selfMs: number;
  /** Share of all time that was not idle. */
  readonly share: number;
}

const ROOT = join(import.meta.dirname, '..', '..');
const IDLE = '(idle)';

function whereOf({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  const file = url.replace('file://', '').replace(`${ROOT}/`, '');
  return file === '' ? name : `${name}  ${file}:${lineNumber + 1}`;
}

/** Returns the functions with the most self time, hottest first. */
export function hotFunctions({ nodes, samples, timeDeltas }: CpuProfile, max: number): HotFunction[] {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, whereOf(callFrame)]));
  const selfUs = new Map<string, number>();
  samples.forEach((id, index) => {
    const where = names.get(id) ?? '(unknown)';
    // The time between two samples belongs to the function of the first one.
    if (where !== IDLE) selfUs.set(where, (selfUs.get(where) ?? 0) + (timeDeltas[index + 1] ?? 0));
  });
  const all = [...selfUs.values()].reduce((sum, us) => sum + us, 0);
  return [...selfUs]
    .sort(([, a], [, b]) => b - a)
    .slice(0, max)
    .map(([where, us]) => ({ where, selfMs: us / 1000, share: us / all }));
}

/** Number of functions in the table. */
const MAX_FUNCTIONS = 20;

/** The hot functions of a profile as text. */
export function profileTable(file: string): string {
  const hot = hotFunctions(JSON.parse(readFileSync(file, 'utf8')) as CpuProfile, MAX_FUNCTIONS);
  const line = ({ where, selfMs, share }: HotFunction): string =>
    `  ${(share * 100).toFixed(1).padStart(5)} %  ${selfMs.toFixed(0).padStart(7)} ms  ${where}`;
  return [`\n## hot functions by self time (${file})`, ...hot.map(line)].join('\n');
}
