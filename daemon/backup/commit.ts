import { existsSync } from 'node:fs';
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { assertRegularFile, assertReplaceable, replaceFile } from '../lib/fs/atomic-file.ts';
import { syncFolder } from '../lib/fs/temp-file.ts';
import { SetupError } from '../lib/setup-error.ts';
import type { Folders } from '../settings/folders.ts';
import { readFileCapped } from '../settings/read-file.ts';
import { ADOPTED_SUFFIXES } from '../store/backup.ts';
import { checkpoint } from '../store/copy.ts';
import { FILE_NAME } from '../store/open.ts';
import { memberNames, pathOf, withSettings } from './config-files.ts';
import { beginRestore, endRestore } from './incomplete-restore.ts';
import { COMPANION_MEMBER, DATABASE_MEMBER, ENV_MEMBER, maxBytesOf, SETTINGS_MEMBER } from './names.ts';

/** The plan of a restore after the archive was checked. */
export interface CommitPlan {
  folders: Folders;
  /** Folder of the checked members. */
  staged: string;
  /** Their names. */
  members: ReadonlySet<string>;
  /** Base name of the folder below the state folder for the replaced files. */
  backupFolder: string;
  /** Called before each change, so that tests can stop there. */
  step?: (what: string) => void;
}

const SECRET = 'secret.bin';
const PRIVATE = 0o600;

/** Copies a file before it is replaced. A copy of an earlier, interrupted run is kept. */
async function backUp(plan: CommitPlan, from: string, member: string): Promise<void> {
  const to = join(plan.folders.state, plan.backupFolder, member);
  if (!existsSync(from) || existsSync(to)) return;
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  plan.step?.(`keep ${member}`);
  await replaceFile(to, await readFile(from), { mode: PRIVATE });
}

const staged = (plan: CommitPlan, member: string) => readFile(join(plan.staged, member));

/**
 * Returns the new content of api.env: that of the archive, or its settings merged with the existing keys.
 * Returns null to keep the file.
 */
async function envBytes(plan: CommitPlan): Promise<Buffer | null> {
  if (plan.members.has(ENV_MEMBER)) return staged(plan, ENV_MEMBER);
  if (!plan.members.has(SETTINGS_MEMBER)) return null;
  const here = await readFileCapped(pathOf(plan.folders.config, ENV_MEMBER), maxBytesOf(ENV_MEMBER) ?? 0);
  if (here.kind === 'unreadable')
    throw new SetupError(`api.env ${here.message}.`, 'Correct or remove it, and restore again.');
  return withSettings(
    here.kind === 'bytes' ? here.bytes : Buffer.alloc(0),
    await staged(plan, SETTINGS_MEMBER),
  );
}

/** Returns the new content of a configuration file, null to delete it, or undefined to keep it. */
async function contentFor(plan: CommitPlan, member: string): Promise<Buffer | null | undefined> {
  if (member === ENV_MEMBER) return (await envBytes(plan)) ?? undefined;
  if (plan.members.has(member)) return staged(plan, member);
  return member === COMPANION_MEMBER ? undefined : null;
}

async function replaceMember(plan: CommitPlan, member: string): Promise<void> {
  const path = pathOf(plan.folders.config, member);
  const bytes = await contentFor(plan, member);
  if (bytes === undefined || (bytes === null && !existsSync(path))) return;
  await backUp(plan, path, member);
  plan.step?.(`place ${member}`);
  if (bytes === null) return rm(path, { force: true });
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await replaceFile(path, bytes, { mode: PRIVATE, within: plan.folders.config });
}

/**
 * Checks that every configuration file can be backed up and replaced, before the first one is changed.
 * Rejects with the obstacle: a symlink that leaves the folder, a folder with the name of a file, an
 * unreadable file.
 */
export async function checkTargets(plan: CommitPlan): Promise<void> {
  const { config } = plan.folders;
  for (const member of await configMembers(plan)) {
    const path = pathOf(config, member);
    const bytes = await contentFor(plan, member);
    if (bytes === undefined) continue;
    if (bytes !== null) await assertReplaceable(path, { within: config });
    if (!existsSync(path)) continue;
    await assertRegularFile(path);
    // `access` would check the real user, not the effective one.
    await (await open(path)).close();
  }
}

/** Returns every configuration file that exists or will be created. */
async function configMembers(plan: CommitPlan): Promise<string[]> {
  const here = (await memberNames(plan.folders.config)).filter((name) => maxBytesOf(name) !== null);
  const incoming = [...plan.members].filter((name) => name.startsWith('config/') && name !== SETTINGS_MEMBER);
  return [...new Set([...here, ...incoming])].sort();
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch(async () => replaceFile(to, await readFile(from), { mode: PRIVATE }));
}

/**
 * Keeps the old database under its name until the new one replaces it. Moves away the journal files, which
 * the next start would apply to the new database.
 */
async function replaceDatabase(plan: CommitPlan): Promise<void> {
  const { state } = plan.folders;
  const file = join(state, FILE_NAME);
  const fresh = join(plan.staged, DATABASE_MEMBER);
  const backupFolder = join(state, plan.backupFolder, 'state');
  if (!plan.members.has(DATABASE_MEMBER) || !existsSync(fresh)) return;
  await mkdir(backupFolder, { recursive: true, mode: 0o700 });
  checkpoint(file);
  const backupFile = join(backupFolder, FILE_NAME);
  plan.step?.('keep database');
  if (existsSync(file) && !existsSync(backupFile)) await linkOrCopy(file, backupFile);
  for (const ending of ADOPTED_SUFFIXES) {
    const sidecar = `${file}${ending}`;
    if (existsSync(sidecar)) await rename(sidecar, `${backupFile}${ending}`);
  }
  plan.step?.('place database');
  await rename(fresh, file);
  await syncFolder(state);
}

/** Sessions that were ended since the backup are unknown now, so a new signing secret ends them all. */
async function endSessions(plan: CommitPlan): Promise<void> {
  if (!plan.members.has(DATABASE_MEMBER)) return;
  plan.step?.('end sessions');
  await rm(join(plan.folders.state, SECRET), { force: true });
}

/**
 * Replaces the files with the checked members. At any moment each file is either old or new, and every
 * replaced file was copied before. An interrupted run leaves a marker that prevents a start of the gateway.
 * Running it again completes it.
 */
export async function commit(plan: CommitPlan): Promise<void> {
  const { state } = plan.folders;
  plan.step?.('begin');
  await beginRestore(state, plan.backupFolder);
  await mkdir(join(state, plan.backupFolder), { recursive: true, mode: 0o700 });
  await endSessions(plan);
  for (const member of await configMembers(plan)) await replaceMember(plan, member);
  await replaceDatabase(plan);
  plan.step?.('end');
  await endRestore(state);
}
