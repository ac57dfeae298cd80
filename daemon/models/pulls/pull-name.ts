import { GatewayError } from '../../contract/errors.ts';
import { isRepoName } from './hub-names.ts';

/** Parses `owner/name` and the part after the colon. Throws `pull.bad_name` with the reason. Pure. */
export function parseModel(model: string): { repo: string; selector: string | null } {
  const colon = model.indexOf(':');
  const repo = colon === -1 ? model : model.slice(0, colon);
  const selector = colon === -1 ? null : model.slice(colon + 1);
  if (!repo.includes('/'))
    throw new GatewayError('pull.bad_name', { message: 'A repository of the hub is named OWNER/NAME.' });
  if (selector === '')
    throw new GatewayError('pull.bad_name', {
      message: 'A file or a quantisation is named behind the colon.',
    });
  if (!isRepoName(repo)) throw new GatewayError('pull.bad_name');
  return { repo, selector };
}
