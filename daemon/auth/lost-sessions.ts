import type { Log } from '../lib/log.ts';
import type { SigningSecret } from './signing-secret.ts';

/**
 * Ends every session, because the database that knew which ones were logged out is lost. When the disk takes no new
 * secret either, one in memory does the same for this run: neither logins nor the gateway go down with the disk.
 */
export async function endAllSessions(secret: SigningSecret, log: Log): Promise<void> {
  log.warn('the list of ended sessions was lost with the database; all sessions were ended');
  await secret.renew().catch((error: unknown) => {
    secret.renewInMemory();
    log.error(
      { err: error },
      'the new signing secret could not be written and is valid until the next start only',
    );
  });
}
