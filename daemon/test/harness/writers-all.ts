import type { Writer } from './writer.ts';

/** Each table of writers, loaded when one of it is asked for: some of them load half of the gateway. */
const TABLES = [
  async () => (await import('./writers-store.ts')).STORE,
  async () => (await import('./writers.ts')).SINGLE,
  async () => (await import('./writers-many.ts')).MANY,
];

/** A writer by its name. */
export async function writerOf(name: string): Promise<Writer> {
  for (const table of TABLES) {
    const writer = (await table())[name];
    if (writer !== undefined) return writer;
  }
  throw new Error(`no writer ${name}`);
}
