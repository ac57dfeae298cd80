import { UPSTREAM_KINDS } from '../../contract/upstream-kinds.ts';
import type { UpstreamRecord, UpstreamTestView } from '../../contract/upstreams.ts';
import type { CommandContext } from '../command.ts';
import { requireConfirmation } from '../confirmation.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { json, plain } from '../output.ts';
import { fields, fitted, table } from '../table.ts';

/** A test reads a list and may wait until a remote model is loaded. */
const TEST_MS = 90_000;
const VARIABLE = /^UPSTREAM_[A-Z0-9_]+$/;
const KINDS: readonly string[] = UPSTREAM_KINDS;

export async function list({ client, flags, out, width }: CommandContext): Promise<number> {
  const { upstreams } = await client.call<{ upstreams: UpstreamRecord[] }>('upstreams');
  if (flags.json) out(json({ upstreams }));
  else if (flags.quiet) out(upstreams.map(({ name }) => `${plain(name)}\n`).join(''));
  else if (upstreams.length === 0) out('There are no upstreams. See svcctl upstreams add.\n');
  else {
    const rows = upstreams.map((each) => [
      each.name,
      each.health,
      String(each.models),
      each.remote ? 'remote' : 'local',
      each.base_url ?? '-',
      each.reason ?? '',
    ]);
    const head = ['UPSTREAM', 'HEALTH', 'MODELS', 'WHERE', 'ADDRESS', 'REASON'];
    out(fitted(head, rows, { width, shrink: [0, 4, 5] }));
  }
  return EXIT.ok;
}

/** Variable and kind may be given in any order. Their forms differ. */
export async function add(
  { client, flags, out }: CommandContext,
  name: string,
  base_url: string,
  ...words: string[]
): Promise<number> {
  const rest = words.filter((word) => word !== '');
  const key_env = rest.find((word) => VARIABLE.test(word));
  const kind = rest.find((word) => KINDS.includes(word));
  if (rest.some((word) => word !== key_env && word !== kind)) {
    throw new CliError(
      `variable is a name such as UPSTREAM_DESK, never the key itself; kind is one of ${KINDS.join(', ')}. Usage: svcctl upstreams add <name> <url> [variable] [kind]`,
      EXIT.usage,
    );
  }
  const body = { name, base_url, ...(key_env ? { key_env } : {}), ...(kind ? { kind } : {}) };
  const view = await client.call<UpstreamRecord>('upstream.create', body);
  if (flags.json) out(json(view));
  else {
    out(fields({ Upstream: view.name, Address: view.base_url ?? '-', Kind: view.kind }));
    if (view.key_set === false && view.key_env) {
      out(`! ${view.key_env} is not set. Set it with svcctl auth set ${view.key_env}.\n`);
    }
    out(`Try it: svcctl upstreams test ${view.name}\n`);
  }
  return EXIT.ok;
}

export async function test(
  { client, flags, out }: CommandContext,
  name: string,
  model = flags.model,
): Promise<number> {
  const options = { params: { name }, timeoutMs: TEST_MS };
  const view = await client.call<UpstreamTestView>('upstream.test', model ? { model } : {}, options);
  if (flags.json) out(json(view));
  else {
    const rows = view.steps.map(({ step, ok, status, ms, message }) => [
      step,
      ok ? 'ok' : 'FAILED',
      status === null ? '-' : String(status),
      `${ms} ms`,
      message,
    ]);
    out(table(['STEP', 'RESULT', 'STATUS', 'TIME', 'MESSAGE'], rows));
  }
  return view.ok ? EXIT.ok : EXIT.failed;
}

export async function remove(context: CommandContext, name: string): Promise<number> {
  const { client, flags, out } = context;
  await requireConfirmation(context, `Its models are no longer reachable. Remove upstream ${plain(name)}?`);
  const view = await client.call<{ removed: string }>('upstream.remove', undefined, { params: { name } });
  out(flags.json ? json(view) : `Removed ${view.removed}. Its key stays in api.env until you take it out.\n`);
  return EXIT.ok;
}
