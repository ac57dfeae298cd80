import { join } from 'node:path';
import type { Log } from '../lib/log.ts';
import type { Settings } from '../settings/settings.ts';
import type { Store } from '../store/store.ts';
import { linkOllama } from './ollama-links.ts';
import { readState, STATE_KEY } from './setup-state.ts';

export interface RenewLinksDeps {
  readonly store: Pick<Store, 'keyValue'>;
  readonly settings: Pick<Settings, 'folders'>;
  readonly log: Log;
}

/**
 * Updates the links to Ollama models: adds new models, removes deleted ones. Uses the stored setup state,
 * because the scan at start runs before setup. Never rejects.
 */
export async function renewLinks({ store, settings, log }: RenewLinksDeps): Promise<void> {
  const folder = join(settings.folders.state, 'models', 'ollama');
  const roots = readState(store.keyValue.get(STATE_KEY)).ollama;
  const logFailure = (error: Error) =>
    log.warn({ reason: error.message }, 'the models of Ollama could not be linked');
  if (roots.length > 0) await linkOllama(roots, folder, logFailure).catch(logFailure);
}
