import type { RotateView } from '../contract/auth.ts';
import { GatewayError } from '../contract/errors.ts';
import { FileWriteError } from '../lib/fs/atomic-file.ts';
import type { Log } from '../lib/log.ts';
import type { Settings } from '../settings/settings.ts';
import { fingerprint, generateKey, type KeyTier } from './keys.ts';

export interface RotateDeps<By> {
  settings: Pick<Settings, 'setEnvFile'>;
  log: Log;
  /** Path of api.env, for the note of the response. */
  envFile: string;
  /** Called when the new key is live, before the response. */
  onRotated: (tier: KeyTier, fingerprint: string, by: By | undefined) => void;
  /** Unix milliseconds. */
  now?: () => number;
}

/** `by` is passed to `onRotated`. */
export type Rotate<By> = (tier: KeyTier, by?: By) => Promise<RotateView>;

const SETTING = { admin: 'adminKey', client: 'clientKey' } as const;
const CONSEQUENCES: Readonly<Record<KeyTier, string>> = {
  admin: 'An old key no longer works; browser sessions stay valid.',
  client:
    'An old key no longer works: update every app that used it, and restart svc-companion if it is installed.',
};
const noteFor = (tier: KeyTier, envFile: string): string =>
  `The new ${tier} key was written to the environment file ${envFile} and is never shown in the dashboard. ${CONSEQUENCES[tier]}`;

/**
 * Replaces a key (docs/spec/specification.md#rotate, docs/spec/contract.md#rotate): first in the environment
 * file, then live without a restart. The response never contains the key. Rotations run one at a time;
 * limiter and connections bound the queue. Throws `auth.rotate_failed`; the old key then stays valid and the
 * file is unchanged.
 */
export function createRotate<By>(deps: RotateDeps<By>): Rotate<By> {
  const { settings, log, envFile, onRotated, now = Date.now } = deps;
  let tail: Promise<unknown> = Promise.resolve();

  const rotateNow = async (tier: KeyTier, by: By | undefined): Promise<RotateView> => {
    const key = generateKey();
    await settings.setEnvFile(SETTING[tier], key).catch((error: unknown) => {
      log.error({ err: error, tier }, 'key rotation failed; the old key remains valid');
      throw new GatewayError('auth.rotate_failed', {
        message: messageOf(error),
        cause: error,
        details: reasonOf(error),
      });
    });
    const print = fingerprint(key);
    log.info({ tier, fingerprint: print }, 'key rotated');
    onRotated(tier, print, by);
    return {
      tier,
      key_len: key.length,
      fingerprint: print,
      rotated_at: new Date(now()).toISOString(),
      applies_live: true,
      restart_required: false,
      session_preserved: true,
      note: noteFor(tier, envFile),
    };
  };

  return (tier, by) => {
    const turn = tail.then(() => rotateNow(tier, by));
    tail = turn.catch(() => {});
    return turn;
  };
}

/** Returns the cause when it is known to contain no path; otherwise the message of the catalogue applies. */
function messageOf(error: unknown): string | undefined {
  if (!(error instanceof FileWriteError)) return undefined;
  return `The environment file could not be replaced: ${error.message}. The old key remains valid.`;
}

/** Returns only the system's error code: a message could contain a path. */
function reasonOf(error: unknown): Record<string, unknown> | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^E[A-Z0-9]{1,20}$/.test(code) ? { reason: code } : undefined;
}
