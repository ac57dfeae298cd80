import { fingerprint } from '../../auth/keys.ts';
import { invalidRequest } from '../../contract/invalid-request.ts';
import type { SecretView } from '../../contract/system.ts';
import { isWritableSecret } from '../../settings/secrets.ts';
import { audit } from '../audit.ts';
import { configWrite } from '../config-write.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';

const NAME_REASON = 'must be HF_TOKEN, or the name of a variable such as UPSTREAM_DESK_KEY';

/**
 * `PUT /api/settings/secrets/:name`: writes a key into api.env. Its value is never returned or logged; the audit
 * row has its fingerprint (docs/spec/contract.md#write-only-secrets).
 */
export function secretRoutes(deps: RouteDeps) {
  const put: Handler = async (ctx) => {
    const name = ctx.params.name ?? '';
    if (!isWritableSecret(name)) throw invalidRequest([{ path: 'name', reason: NAME_REASON }]);
    const { value } = ctx.request.body as { value: string };
    await configWrite(() => deps.settings.setSecret(name, value));
    const view: SecretView = { name, set: true, fingerprint: fingerprint(value) };
    audit(deps, ctx, 'settings.secret', { name, fingerprint: view.fingerprint });
    ctx.body = view;
  };
  return { 'secret.put': put } satisfies Record<string, Handler>;
}
