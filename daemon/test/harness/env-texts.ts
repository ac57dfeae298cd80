import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { parseEnvFile } from '../../settings/env-file.ts';
import { ENV_MARKS } from '../../settings/testing/env-marks.ts';
import type { Machine } from './machine.ts';

/** Files of one systemd unit. Their variable names differ, so each file is compared on its own. */
const BATCH = 200;

/** The gateway also reads lines that begin with `export`, which systemd ignores. */
const PIECES = [...ENV_MARKS.filter((mark) => mark !== 'export '), 'é', 'x y'];
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
/** Comments that end in a backslash continue in some releases of systemd and not in others. */
const VERSION_DEPENDENT = /^[ \t]*[#;].*\\$/m;

/** Environment files made of every significant token; each `K`, `A`, `B`, `Z` is a name. */
const text = fc
  .array(fc.oneof(fc.constantFrom('K', 'A', ...PIECES), fc.constantFrom(...LINES)), { maxLength: 20 })
  .map((pieces) => pieces.join(''))
  .filter((each) => !VERSION_DEPENDENT.test(each));

const withIndex = (each: string, i: number) => each.replace(/[KABZ]/g, (letter) => `${letter}${i}_`);

/** Returns the variables of a systemd unit that the files of a batch can set. */
async function readBySystemd(machine: Machine, batch: string): Promise<Map<string, string>> {
  const unit = `[Service]\nType=oneshot\nEnvironmentFile=-/shared/env/${batch}/*.env\nExecStart=/usr/bin/env -0\nStandardOutput=file:/run/env.${batch}\n`;
  await machine.runOk(
    `printf '%s' '${unit}' > /run/systemd/system/env-${batch}.service; systemctl daemon-reload`,
  );
  await machine.runOk(`systemctl start env-${batch}`);
  const dump = await machine.runOk(`base64 -w0 /run/env.${batch}`);
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

/** Returns the first text that the systemd of `machine` reads differently, with both results, or null. */
export async function firstDifference(
  machine: Machine,
  shared: string,
  { numRuns, seed }: { numRuns: number; seed: number },
): Promise<object | null> {
  const texts = fc.sample(text, { numRuns, seed }).map(withIndex);
  for (let from = 0; from < texts.length; from += BATCH) {
    const batch = texts.slice(from, from + BATCH);
    const folder = join(shared, 'env', String(from));
    mkdirSync(folder, { recursive: true });
    for (const [i, each] of batch.entries()) writeFileSync(join(folder, `${from + i}.env`), each);
    const theirs = await readBySystemd(machine, String(from));
    for (const [i, each] of batch.entries()) {
      const ownNames = new RegExp(`[KABZ]${from + i}_`);
      const [ours, systemdReads] = [parseEnvFile(Buffer.from(each)), theirs].map((variables) =>
        [...variables].filter(([name]) => ownNames.test(name)).sort(),
      );
      if (JSON.stringify(ours) !== JSON.stringify(systemdReads))
        return { text: each, ours, systemd: systemdReads };
    }
  }
  return null;
}
