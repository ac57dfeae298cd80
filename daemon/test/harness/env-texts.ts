import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { parseEnvFile } from '../../settings/env-file.ts';
import { ENV_MARKS } from '../../settings/testing/env-marks.ts';
import type { Machine } from './machine.ts';

/** Files of one unit: their names differ, so that each is judged alone. */
const BATCH = 200;

const PIECES = [...ENV_MARKS, 'é', 'x y'];
const LINES = [
  'K=old\n',
  'A=1\n',
  'K="o\\"ld"\n',
  "K='old'\r\n",
  '# c\n',
  'B="x\ny"\n',
  'Z=a\\\nb\n',
  'K = v \n',
];
/** Comments that end in a backslash go on in some releases of systemd and not in others. */
const UNDECIDED = /^[ \t]*[#;].*\\$/m;

/** Texts of environment files out of everything that means something in them; each `K`, `A`, `B`, `Z` is a name. */
const text = fc
  .array(fc.oneof(fc.constantFrom('K', 'A', ...PIECES), fc.constantFrom(...LINES)), { maxLength: 20 })
  .map((pieces) => pieces.join(''))
  .filter((each) => !UNDECIDED.test(each));

const named = (each: string, i: number) => each.replace(/[KABZ]/g, (letter) => `${letter}${i}_`);

/** What a unit of systemd finds in its environment, of the names that the files of a batch may hold. */
async function asSystemd(machine: Machine, batch: string): Promise<Map<string, string>> {
  const unit = `[Service]\nType=oneshot\nEnvironmentFile=-/shared/env/${batch}/*.env\nExecStart=/usr/bin/env -0\nStandardOutput=file:/run/env.${batch}\n`;
  await machine.must(
    `printf '%s' '${unit}' > /run/systemd/system/env-${batch}.service; systemctl daemon-reload`,
  );
  await machine.must(`systemctl start env-${batch}`);
  const dump = await machine.must(`base64 -w0 /run/env.${batch}`);
  const entries = Buffer.from(dump, 'base64').toString('utf8').split('\0');
  return new Map(
    entries.flatMap((entry) => {
      const at = entry.indexOf('=');
      return /^[A-Za-z_]\w*_\w*$/.test(entry.slice(0, at)) && /[KABZ]\d+_/.test(entry.slice(0, at))
        ? [[entry.slice(0, at), entry.slice(at + 1)] as const]
        : [];
    }),
  );
}

/** The first text that the systemd of `machine` reads otherwise than we do, with both readings; null when there is none. */
export async function firstDifference(
  machine: Machine,
  shared: string,
  { numRuns, seed }: { numRuns: number; seed: number },
): Promise<object | null> {
  const texts = fc.sample(text, { numRuns, seed }).map(named);
  for (let from = 0; from < texts.length; from += BATCH) {
    const batch = texts.slice(from, from + BATCH);
    const folder = join(shared, 'env', String(from));
    mkdirSync(folder, { recursive: true });
    for (const [i, each] of batch.entries()) writeFileSync(join(folder, `${from + i}.env`), each);
    const theirs = await asSystemd(machine, String(from));
    for (const [i, each] of batch.entries()) {
      const own = new RegExp(`[KABZ]${from + i}_`);
      const [ours, its] = [parseEnvFile(Buffer.from(each)), theirs].map((read) =>
        [...read].filter(([name]) => own.test(name)).sort(),
      );
      if (JSON.stringify(ours) !== JSON.stringify(its)) return { text: each, ours, systemd: its };
    }
  }
  return null;
}
