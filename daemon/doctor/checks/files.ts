import type { Stats } from 'node:fs';
import { access, constants, lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { factsOf, SECRET_ADVICE, secretFlaw } from '../../auth/signing-secret.ts';
import type { DoctorFacts } from '../facts.ts';
import { type Finding, fail, ok, warn } from '../finding.ts';
import { filesDenied, isDenied } from './files-denied.ts';

/** Bits of the mode that nobody but the owner may have. */
const PRIVATE = 0o077;
const WRITABLE = 0o022;

interface Place {
  path: string;
  /** Mode bits that must be clear. */
  forbidden: number;
  folder: boolean;
  fix: string;
  /** The signing secret: a link is judged as one, and so is everything else that a start refuses. */
  secret?: true;
}

const place = (path: string, forbidden: number, folder: boolean): Place => ({
  path,
  forbidden,
  folder,
  fix: `chmod ${folder ? (forbidden === PRIVATE ? '700' : 'go-w') : '600'} ${path}`,
});

/** Files with secrets, and the folders of both. */
const places = ({ config, state }: DoctorFacts['settings']['folders']): Place[] => [
  place(config, WRITABLE, true),
  place(state, PRIVATE, true),
  place(join(config, 'api.env'), PRIVATE, false),
  place(join(config, 'companion.env'), PRIVATE, false),
  { ...place(join(state, 'secret.bin'), PRIVATE, false), secret: true },
  place(join(state, 'svc.db'), PRIVATE, false),
];

const octal = (facts: Stats): string => (facts.mode & 0o777).toString(8);

function judged({ path, forbidden, folder, fix }: Place, facts: Stats, owner: number): Finding | null {
  if (folder !== facts.isDirectory()) {
    return fail(
      'files',
      `${path} is ${folder ? 'no folder' : 'no file'}.`,
      `Move ${path} away and start again.`,
    );
  }
  if ((facts.mode & forbidden) !== 0) {
    return fail('files', `${path} is open to other users (mode ${octal(facts)}).`, fix);
  }
  return facts.uid === owner
    ? null
    : fail('files', `${path} belongs to user ${facts.uid}, not ${owner}.`, `chown ${owner} ${path}`);
}

/** The shape of the secret first: a mode and an owner can be corrected, a link or a cut file cannot. */
function judgedSecret(one: Place, facts: Stats, owner: number): Finding | null {
  const found = factsOf(facts);
  const shape = secretFlaw({ ...found, uid: owner, mode: 0o600 }, owner);
  if (shape !== null) return fail('files', `${one.path} ${shape}.`, SECRET_ADVICE);
  const flaw = secretFlaw(found, owner);
  return judged(one, facts, owner) ?? (flaw === null ? null : fail('files', `${one.path} ${flaw}.`, one.fix));
}

async function lookAt(one: Place, owner: number, facts: DoctorFacts): Promise<Finding | null> {
  try {
    if (one.secret) return judgedSecret(one, await lstat(one.path), owner);
    return judged(one, await stat(one.path), owner);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && (await lstat(one.path).catch(() => null)) === null) return null;
    if (code === 'ENOENT')
      return fail('files', `${one.path} is a link that leads nowhere.`, `rm ${one.path}`);
    if (isDenied(error) && filesDenied(facts)) return null;
    const fix = 'Run svcctl doctor with sudo, or as the user of the service.';
    return warn('files', `${one.path} may not be looked at by ${facts.user.name} (${code}).`, fix);
  }
}

async function writable(path: string, user: string): Promise<Finding | null> {
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    return fail('files', `${user} may not write ${path}.`, `chown ${user} ${path}`);
  }
}

/** Modes and owners of what must be private, and whether the folders can be written. */
export async function files(facts: DoctorFacts): Promise<Finding[]> {
  const { settings, user } = facts;
  const { config, state } = settings.folders;
  const own = await stat(state).catch(() => null);
  if (own === null && filesDenied(facts)) return [];
  if (own === null) {
    const message = `There is no state folder ${state} yet.`;
    return [warn('files', message, 'The first start of the gateway makes it.')];
  }
  const found = await Promise.all([
    ...places(settings.folders).map((one) => lookAt(one, own.uid, facts)),
    ...(own.uid === user.uid ? [config, state].map((path) => writable(path, user.name)) : []),
  ]);
  const wrong = found.filter((one) => one !== null);
  if (wrong.length === 0 && filesDenied(facts)) return [];
  return wrong.length > 0 ? wrong : [ok('files', `${config} and ${state} are private to their owner.`)];
}
