/**
 * `node write-and-report.ts WRITER ROOT`: does one write of the table and prints a line of JSON for each part that it
 * acknowledges (written before it goes on) and one for what it told its caller in the end.
 */
import { writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { configWrite } from '../../routes/config-write.ts';
import { writerOf } from './writers-all.ts';
import { STORE } from './writers-store.ts';

export interface Told {
  /** The error as its caller gets it: its code, else the name of its class; null after success. */
  readonly error: string | null;
  readonly message: string;
  /** Whether what the process goes by is what is written. */
  readonly agrees: boolean;
}

/** More files than the start of a process opens: so the n-th open of a helper thread is no open of the main one. */
const APART = 600;

const say = (line: object) => writeSync(1, `${JSON.stringify(line)}\n`);
const [name = '', root = ''] = process.argv.slice(2);
const writer = await writerOf(name);
// SQLite does all by the main thread.
for (let n = 0; n < APART && !(name in STORE); n++)
  await open('/dev/null')
    .then((handle) => handle.close())
    .catch(() => {});

async function once(): Promise<Told> {
  try {
    const begun = await writer.begin(root);
    try {
      await configWrite(() => begun.write((acknowledged) => say({ acknowledged })));
      return { error: null, message: '', agrees: begun.agrees?.() ?? true };
    } catch (error) {
      return { ...nameOf(error), agrees: begun.agrees?.() ?? true };
    } finally {
      await begun.end?.();
    }
  } catch (error) {
    return { ...nameOf(error), agrees: true };
  }
}

function nameOf(error: unknown): { error: string; message: string } {
  const { name, message, code } = error as NodeJS.ErrnoException;
  return { error: code ?? name, message };
}

say(await once());
