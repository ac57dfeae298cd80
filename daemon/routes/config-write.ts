import { GatewayError } from '../contract/errors.ts';
import { FileWriteError } from '../lib/fs/atomic-file.ts';
import { ConfigEditError } from '../settings/config-file.ts';
import { EnvFileError } from '../settings/env-file.ts';
import { ENV_FILE } from '../settings/env-layer.ts';

/**
 * Runs a configuration change and converts its errors, without paths. Calls `reload` when the caller's
 * revision was outdated, so that the next read shows the file.
 */
export async function configWrite<T>(change: () => Promise<T>, reload?: () => unknown): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'config.stale') await reload?.();
    if (error instanceof ConfigEditError || error instanceof EnvFileError) {
      const file = error instanceof EnvFileError ? `${ENV_FILE}: ` : '';
      throw new GatewayError('config.broken', { message: `${file}${error.message}`, cause: error });
    }
    if (!(error instanceof FileWriteError)) throw error;
    if (error.reason === 'changed') throw new GatewayError('config.conflict', { cause: error });
    const details = error.code === null ? undefined : { reason: error.code };
    const message = `The configuration could not be written: ${error.message}. Nothing has changed.`;
    throw new GatewayError('config.write_failed', { message, details, cause: error });
  }
}
