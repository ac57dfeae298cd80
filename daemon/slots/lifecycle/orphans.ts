import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isSameProcess, orphanedGroups, type ProcessIdentity } from '../../lib/process/process-identity.ts';
import { removeRecordFile } from '../runners/remove-record.ts';

const RunRecord = z.object({
  slot: z.string(),
  pid: z.number().int().min(2),
  startTicks: z.number().int().min(0),
  nonce: z.string().min(16),
});
export type RunRecord = z.infer<typeof RunRecord>;

const fileOf = (folder: string, slot: string): string => join(folder, `${slot}.json`);

/**
 * Writes a record of a started engine, so that the next gateway can end it if this one dies. Errors are ignored.
 */
export function writeRunRecord(folder: string, record: RunRecord): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(fileOf(folder, record.slot), JSON.stringify(record), { mode: 0o600 });
  } catch {
    // An engine also ends on its own when its parent process is gone.
  }
}

/** Removes the record of an engine that has ended. Never throws; logs a record that cannot be removed. */
export function removeRunRecord(folder: string, slot: string, log?: (line: string) => void): void {
  removeRecordFile(fileOf(folder, slot), log);
}

function readRecord(file: string): RunRecord | null {
  try {
    return RunRecord.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}

function listRecords(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
}

/** Sends a signal to a process group. Returns false when it does not exist. */
export function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

export interface OrphanOptions {
  isSame?: (identity: ProcessIdentity) => boolean;
  groupsLeft?: (identity: ProcessIdentity) => readonly number[];
  kill?: (pid: number, signal: NodeJS.Signals) => boolean;
}

/**
 * Ends the engines that an earlier gateway left behind: a process whose pid, start time and nonce all match its
 * record, and the child processes of one that has already ended. Removes every record if the disk allows it.
 * Returns the slots whose engine was ended. Never throws.
 */
export function endOrphans(folder: string, options: OrphanOptions = {}): string[] {
  const { isSame = isSameProcess, groupsLeft = orphanedGroups, kill = signalGroup } = options;
  const groupsOf = (record: RunRecord) => (isSame(record) ? [record.pid] : groupsLeft(record));
  const ended: string[] = [];
  for (const name of listRecords(folder)) {
    const record = readRecord(join(folder, name));
    const killed = record === null ? [] : groupsOf(record).filter((group) => kill(group, 'SIGKILL'));
    if (record !== null && killed.length > 0) ended.push(record.slot);
    removeRecordFile(join(folder, name));
  }
  return ended;
}
