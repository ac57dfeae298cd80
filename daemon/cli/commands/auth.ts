import type { RequireView, RotateView, SessionRow, StatusView } from '../../contract/auth.ts';
import type { Command, CommandContext } from '../command.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { fields, json, table } from '../output.ts';

async function status({ client, flags, out }: CommandContext): Promise<number> {
  const view = await client.call<StatusView>('auth.status');
  if (flags.json) out(json(view));
  else {
    out(
      fields({
        Enforcement: view.auth_required ? 'on' : 'off',
        'Admin key': view.has_admin_key ? 'set' : 'not set',
        'Your tier': view.tier,
      }),
    );
  }
  return EXIT.ok;
}

const CONSEQUENCES = {
  admin: 'The old admin key stops working at once. Browser sessions stay.',
  client: 'The old client key stops working at once in every app that uses it.',
} as const;

async function rotate({ client, args, flags, out, confirm }: CommandContext): Promise<number> {
  const tier = args[0];
  if ((tier !== 'admin' && tier !== 'client') || args.length !== 1) {
    throw new CliError('usage: svcctl auth rotate admin|client', EXIT.usage);
  }
  if (!flags.force) {
    const answer = await confirm(`${CONSEQUENCES[tier]} Rotate the ${tier} key?`);
    if (answer === null) throw new CliError('no terminal to confirm; pass --force', EXIT.declined);
    if (!answer) throw new CliError('nothing was changed', EXIT.declined);
  }
  const view = await client.call<RotateView>('auth.rotate', { tier });
  if (flags.json) out(json(view));
  else
    out(
      `${fields({ Fingerprint: view.fingerprint, Length: String(view.key_len), Rotated: view.rotated_at })}${view.note}\n`,
    );
  return EXIT.ok;
}

async function requireAuth({ client, args, flags, out }: CommandContext): Promise<number> {
  const word = args[0];
  if ((word !== 'on' && word !== 'off') || args.length !== 1) {
    throw new CliError('usage: svcctl auth require on|off', EXIT.usage);
  }
  const view = await client.call<RequireView>('auth.require', { require_auth: word === 'on' });
  if (flags.json) out(json(view));
  else {
    const held = view.source === 'env' ? ' (held by SVC_REQUIRE_AUTH in the environment)' : '';
    out(`Enforcement is ${view.require_auth ? 'on' : 'off'}${held}.\n`);
  }
  return EXIT.ok;
}

async function sessions({ client, flags, out }: CommandContext): Promise<number> {
  const rows = await client.call<SessionRow[]>('auth.sessions');
  if (flags.json) out(json(rows));
  else if (rows.length === 0) out('No session is valid now.\n');
  else {
    const when = (seconds: number) => new Date(seconds * 1000).toISOString();
    out(
      table(
        ['SESSION', 'CREATED', 'EXPIRES'],
        rows.map((row) => [row.id8, when(row.created_at), when(row.expires_at)]),
      ),
    );
  }
  return EXIT.ok;
}

export const authCommands: readonly Command[] = [
  { words: 'auth status', usage: '', summary: 'Enforcement, keys and your own tier', run: status },
  {
    words: 'auth rotate',
    usage: 'admin|client',
    summary: 'Replace a key; prints its fingerprint',
    options: ['force'],
    completions: [['admin', 'client']],
    run: rotate,
  },
  {
    words: 'auth require',
    usage: 'on|off',
    summary: 'Turn enforcement on or off',
    completions: [['on', 'off']],
    run: requireAuth,
  },
  { words: 'auth sessions', usage: '', summary: 'Browser sessions that are valid now', run: sessions },
];
