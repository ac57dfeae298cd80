import type { Log } from '../lib/log.ts';
import type { SigningSecret } from './signing-secret.ts';

/**
 * Ends every session, because the list of logged-out sessions was lost with the database. If the disk accepts
 * no new secret, a secret in memory is used until the next start, so that logins keep working.
 */
export async function endAllSessions(secret: SigningSecret, log: Log): Promise<void> {
  log.warn('the list of ended sessions was lost with the database; all sessions were ended');
  await secret.renew().catch((error: unknown) => {
    secret.renewInMemory();
    log.error(
      { err: error },
      'the new signing secret could not be written; it is valid until the next start only',
    );
  });
}
