/**
 * `node report-write.ts WRITER ROOT`: does one write of the table. Prints a line of JSON for each part that it
 * acknowledges, before it continues, and one for the result.
 */
import { writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { configWrite } from '../../routes/config-write.ts';
import { writerOf } from './writers-all.ts';
import { STORE } from './writers-store.ts';

export interface WriteReport {
  /** The code of the error, or the name of its class; null after success. */
  readonly error: string | null;
  readonly message: string;
  /** Whether the state of the process equals the files. */
  readonly agrees: boolean;
}

/** More files than a process opens at start, so that the n-th open of a helper thread is not one of the main thread. */
const EXTRA_OPENS = 600;

const print = (line: object) => writeSync(1, `${JSON.stringify(line)}\n`);
const [name = '', root = ''] = process.argv.slice(2);
const writer = await writerOf(name);
// SQLite makes all calls in the main thread.
for (let n = 0; n < EXTRA_OPENS && !(name in STORE); n++)
  await open('/dev/null')
    .then((handle) => handle.close())
    .catch(() => {});

async function writeOnce(): Promise<WriteReport> {
  try {
    const pending = await writer.begin(root);
    try {
      await configWrite(() => pending.write((acknowledged) => print({ acknowledged })));
      return { error: null, message: '', agrees: pending.agrees?.() ?? true };
    } catch (error) {
      return { ...nameOf(error), agrees: pending.agrees?.() ?? true };
    } finally {
      await pending.end?.();
    }
  } catch (error) {
    return { ...nameOf(error), agrees: true };
  }
}

function nameOf(error: unknown): { error: string; message: string } {
  const { name, message, code } = error as NodeJS.ErrnoException;
  return { error: code ?? name, message };
}

print(await writeOnce());
