import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { invalidRequest } from '../../contract/invalid-request.ts';
import type { SettingRow } from '../../contract/system.ts';
import { truncate } from '../../lib/text/truncate.ts';
import { SETTINGS, type SettingName } from '../../settings/catalogue.ts';
import { ifMatchGuard } from '../../settings/revision.ts';
import { secretRedirectReason } from '../../settings/secret-locations.ts';
import { parseInput } from '../../settings/setting-types.ts';
import { audit } from '../audit.ts';
import { configWrite } from '../config-write.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';
import { allProblems } from '../problems.ts';

/** `/api/settings`: every setting, and the route that persists those of config.toml. */
export function settingsRoutes(deps: RouteDeps) {
  const running = startValues(deps);
  const view = () => ({
    settings: deps.settings.views().map((row) => withRunning(row, running)),
    revision: deps.settings.revision(),
    problems: allProblems(deps),
    env_file: join(deps.settings.folders.config, 'api.env'),
  });
  const put: Handler = async (ctx) => {
    const { values } = ctx.request.body as { values: Values };
    const accepted = acceptable(deps, values);
    const guard = ifMatchGuard(ctx.req.headers['if-match']);
    await configWrite(
      () => deps.settings.persistAll(accepted, guard),
      () => deps.settings.reload(),
    );
    const names = accepted.map(([name]) => name);
    if (names.length > 0) audit(deps, ctx, 'settings.put', { names });
    ctx.body = view();
  };
  const get: Handler = (ctx) => {
    ctx.body = view();
  };
  return { settings: get, 'settings.put': put } satisfies Record<string, Handler>;
}

type Values = Record<string, unknown>;
type Accepted = readonly (readonly [name: SettingName, value: unknown])[];

/** Returns the start values of settings that need a restart, without secrets. */
function startValues({ settings }: Pick<RouteDeps, 'settings'>): ReadonlyMap<string, unknown> {
  const fixed = settings.views().filter((row) => !row.live && !row.secret);
  return new Map(fixed.map(({ name, value }) => [name, value]));
}

function withRunning(row: SettingRow, running: ReadonlyMap<string, unknown>): SettingRow {
  if (!running.has(row.name) || isDeepStrictEqual(running.get(row.name), row.value)) return row;
  return { ...row, running: running.get(row.name) };
}

/** Enforcement has its own route with its own conditions. Throws `request.invalid` naming each value at fault. */
function acceptable({ settings }: Pick<RouteDeps, 'settings'>, values: Values): Accepted {
  const fields: { path: string; reason: string }[] = [];
  const accepted: [SettingName, unknown][] = [];
  for (const [name, value] of Object.entries(values)) {
    const row = Object.hasOwn(SETTINGS, name) ? SETTINGS[name as SettingName] : undefined;
    if (!row?.toml || name === 'requireAuth') {
      const other = row === undefined ? 'is not a setting' : 'is set in api.env only';
      const reason = name === 'requireAuth' ? 'is changed with PUT /api/auth/require' : other;
      fields.push({ path: truncate(name, 64), reason });
      continue;
    }
    const parsed = parseInput<unknown>(row.type, value);
    const reason = parsed.ok
      ? secretRedirectReason(settings, name as SettingName, parsed.value)
      : parsed.reason;
    if (reason !== null) fields.push({ path: name, reason });
    else if (parsed.ok) accepted.push([name as SettingName, parsed.value]);
  }
  if (fields.length > 0) throw invalidRequest(fields);
  return accepted;
}
