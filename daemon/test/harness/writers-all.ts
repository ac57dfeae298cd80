import type { Writer } from './writer.ts';

/** The tables of writers, loaded on demand: some import half of the gateway. */
const TABLES = [
  async () => (await import('./writers-store.ts')).STORE,
  async () => (await import('./writers.ts')).SINGLE,
  async () => (await import('./writers-many.ts')).MANY,
];

/** Returns a writer by its name. */
export async function writerOf(name: string): Promise<Writer> {
  for (const table of TABLES) {
    const writer = (await table())[name];
    if (writer !== undefined) return writer;
  }
  throw new Error(`no writer ${name}`);
}
