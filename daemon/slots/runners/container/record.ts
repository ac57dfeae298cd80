import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { removeRecordFile } from '../remove-record.ts';

const ContainerRecord = z.object({
  nonce: z.string().min(16),
  /** The key that its engine requires. */
  key: z.string().min(16),
});
export type ContainerRecord = z.infer<typeof ContainerRecord>;

/** The records of this gateway's containers, in files that only their owner can read. */
export class ContainerRecords {
  readonly #folder: string;

  constructor(runFolder: string) {
    this.#folder = join(runFolder, 'containers');
  }

  /**
   * Returns the key file of a slot, for an engine that reads its key from a file. The file is readable inside the
   * container; its folder is closed on the host.
   */
  keyFile(slot: string): string {
    return join(this.#folder, `${slot}.key`);
  }

  read(slot: string): ContainerRecord | null {
    try {
      return ContainerRecord.parse(JSON.parse(readFileSync(this.#file(slot), 'utf8')));
    } catch {
      return null;
    }
  }

  /** Writes the record before its container exists, so that every container has one. Throws when that fails. */
  write(slot: string, record: ContainerRecord, keyFile: boolean): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    if (keyFile) {
      rmSync(this.keyFile(slot), { force: true });
      writeFileSync(this.keyFile(slot), record.key, { mode: 0o444 });
    }
    const next = `${this.#file(slot)}.next`;
    rmSync(next, { force: true });
    writeFileSync(next, JSON.stringify(record), { mode: 0o600 });
    renameSync(next, this.#file(slot));
  }

  /** Removes the record of a container that was removed. Never throws; logs files that cannot be removed. */
  remove(slot: string, log?: (line: string) => void): void {
    removeRecordFile(this.#file(slot), log);
    removeRecordFile(this.keyFile(slot), log);
  }

  #file(slot: string): string {
    return join(this.#folder, `${slot}.json`);
  }
}
