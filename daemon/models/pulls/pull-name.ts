import { GatewayError } from '../../contract/errors.ts';
import { isRepoName } from './hub-names.ts';

/** `owner/name` and what stands behind the colon. Throws `pull.bad_name` with what is wrong. Pure. */
export function parseModel(model: string): { repo: string; asked: string | null } {
  const colon = model.indexOf(':');
  const repo = colon === -1 ? model : model.slice(0, colon);
  const asked = colon === -1 ? null : model.slice(colon + 1);
  if (!repo.includes('/'))
    throw new GatewayError('pull.bad_name', { message: 'A repository of the hub is named OWNER/NAME.' });
  if (asked === '')
    throw new GatewayError('pull.bad_name', {
      message: 'A file or a quantisation is named behind the colon.',
    });
  if (!isRepoName(repo)) throw new GatewayError('pull.bad_name');
  return { repo, asked };
}
