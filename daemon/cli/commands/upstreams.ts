import { UPSTREAM_KINDS } from '../../contract/upstream-kinds.ts';
import type { UpstreamRecord, UpstreamTestView } from '../../contract/upstreams.ts';
import type { Command, CommandContext } from '../command.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { fields, fitted, json, plain, table } from '../output.ts';

/** A test reads a list and may wait until a remote model is loaded. */
const TEST_MS = 90_000;
const VARIABLE = /^UPSTREAM_[A-Z0-9_]+$/;
const KINDS: readonly string[] = UPSTREAM_KINDS;

const usage = (words: string) => new CliError(`usage: svcctl upstreams ${words}`, EXIT.usage);

async function list({ client, args, flags, out, width }: CommandContext): Promise<number> {
  if (args.length > 0) throw usage('list');
  const { upstreams } = await client.call<{ upstreams: UpstreamRecord[] }>('upstreams');
  if (flags.json) out(json({ upstreams }));
  else if (flags.quiet) out(upstreams.map(({ name }) => `${plain(name)}\n`).join(''));
  else if (upstreams.length === 0) out('There are no upstreams. See svcctl upstreams add.\n');
  else {
    const rows = upstreams.map((each) => [
      each.name,
      each.health,
      String(each.models),
      each.remote ? 'remote' : 'near',
      each.base_url ?? '-',
      each.reason ?? '',
    ]);
    const head = ['UPSTREAM', 'HEALTH', 'MODELS', 'WHERE', 'ADDRESS', 'REASON'];
    out(fitted(head, rows, { width, shrink: [0, 4, 5] }));
  }
  return EXIT.ok;
}

async function add({ client, args, flags, out }: CommandContext): Promise<number> {
  const words = 'add NAME BASE_URL [UPSTREAM_VARIABLE] [KIND]';
  const [name, base_url, ...rest] = args;
  if (name === undefined || base_url === undefined || rest.length > 2) throw usage(words);
  const key_env = rest.find((word) => VARIABLE.test(word));
  const kind = rest.find((word) => KINDS.includes(word));
  if (rest.some((word) => word !== key_env && word !== kind)) {
    const hint = `the name of a variable such as UPSTREAM_DESK, never the key itself; a kind is one of ${KINDS.join(', ')}`;
    throw new CliError(`${usage(words).message} (${hint})`, EXIT.usage);
  }
  const body = { name, base_url, ...(key_env ? { key_env } : {}), ...(kind ? { kind } : {}) };
  const view = await client.call<UpstreamRecord>('upstream.create', body);
  if (flags.json) out(json(view));
  else {
    out(fields({ Upstream: view.name, Address: view.base_url ?? '-', Kind: view.kind }));
    if (view.key_set === false && view.key_env) {
      out(`! ${view.key_env} is not set: put it into api.env of the gateway; no restart is needed.\n`);
    }
    out(`Try it: svcctl upstreams test ${view.name}\n`);
  }
  return EXIT.ok;
}

async function test({ client, args, flags, out }: CommandContext): Promise<number> {
  const [name, model = flags.model, ...rest] = args;
  if (name === undefined || rest.length > 0) throw usage('test NAME [MODEL]');
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

async function remove({ client, args, flags, out, confirm }: CommandContext): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || rest.length > 0) throw usage('rm NAME [--force]');
  if (!flags.force) {
    const answer = await confirm(`Its models are no longer reachable. Remove upstream ${plain(name)}?`);
    if (answer === null) throw new CliError('no terminal to confirm; pass --force', EXIT.declined);
    if (!answer) throw new CliError('nothing was changed', EXIT.declined);
  }
  const view = await client.call<{ removed: string }>('upstream.remove', undefined, { params: { name } });
  out(flags.json ? json(view) : `Removed ${view.removed}. Its key stays in api.env until you take it out.\n`);
  return EXIT.ok;
}

export const upstreamCommands: readonly Command[] = [
  {
    words: 'upstreams list',
    usage: '',
    summary: 'Other servers that serve models',
    options: ['quiet', 'wide'],
    isGroupDefault: true,
    run: list,
  },
  {
    words: 'upstreams add',
    usage: 'NAME BASE_URL [UPSTREAM_VARIABLE] [KIND]',
    summary: 'Add an upstream; its key is in api.env',
    completions: [[], [], KINDS],
    run: add,
  },
  {
    words: 'upstreams test',
    usage: 'NAME [MODEL]',
    summary: 'Test an upstream',
    details: 'Requests its model list, and with MODEL a chat of a few tokens.',
    options: ['model'],
    completions: ['upstream', 'model'],
    run: test,
  },
  {
    words: 'upstreams rm',
    usage: 'NAME',
    summary: 'Remove an upstream',
    options: ['force'],
    completions: ['upstream'],
    run: remove,
  },
];
