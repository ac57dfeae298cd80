import type { RequireView, RotateView, SessionRow, StatusView } from '../../contract/auth.ts';
import type { SecretView, StatusOverviewView } from '../../contract/system.ts';
import type { CommandContext } from '../command.ts';
import { requireConfirmation } from '../confirmation.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { json, plain } from '../output.ts';
import { fields, table } from '../table.ts';

export async function status({ client, flags, out }: CommandContext): Promise<number> {
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

const CONSEQUENCES: Readonly<Record<string, string>> = {
  admin: 'The old admin key stops working at once. Browser sessions stay.',
  client: 'The old client key stops working at once in every app that uses it.',
};

/** Returns true if the gateway has a key of this tier, which a rotation would replace. */
async function hasKey({ client }: CommandContext, tier: string): Promise<boolean> {
  const view = await client.call<StatusOverviewView>('status');
  return tier === 'admin' ? view.has_admin_key : view.has_client_key;
}

export async function rotate(context: CommandContext, tier: string): Promise<number> {
  const { client, flags, out } = context;
  if (!flags.force && (await hasKey(context, tier))) {
    await requireConfirmation(context, `${CONSEQUENCES[tier]} Rotate the ${tier} key?`);
  }
  const view = await client.call<RotateView>('auth.rotate', { tier });
  if (flags.json) out(json(view));
  else
    out(
      `${fields({ Fingerprint: view.fingerprint, Length: String(view.key_len), Rotated: view.rotated_at })}${view.note}\n`,
    );
  return EXIT.ok;
}

/** Sets a secret of api.env that `svcctl auth rotate` does not make. It is read from the terminal or a pipe only. */
export async function set(context: CommandContext, variable: string): Promise<number> {
  const { client, flags, out, readPiped, promptHidden } = context;
  const value = ((await readPiped()) ?? (await promptHidden(`Value of ${plain(variable)}: `)))?.trim();
  if (!value) throw new CliError('no value was entered; nothing was changed', EXIT.usage);
  const view = await client.call<SecretView>('secret.put', { value }, { params: { name: variable } });
  if (flags.json) out(json(view));
  else
    out(
      `${fields({ Variable: view.name, Fingerprint: view.fingerprint })}Written to api.env. It applies now.\n`,
    );
  return EXIT.ok;
}

/** Fails when the environment of the gateway overrides the new value. */
export async function requireAuth({ client, flags, out }: CommandContext, state: string): Promise<number> {
  const wanted = state === 'on';
  const view = await client.call<RequireView>('auth.require', { require_auth: wanted });
  const isApplied = view.require_auth === wanted;
  if (flags.json) out(json(view));
  else if (isApplied) out(`Enforcement is ${state}.\n`);
  else {
    const now = view.require_auth ? 'on' : 'off';
    out(
      `Saved, but enforcement stays ${now}: SVC_REQUIRE_AUTH in the environment overrides it. Remove that variable.\n`,
    );
  }
  return isApplied ? EXIT.ok : EXIT.failed;
}

export async function sessions({ client, flags, out }: CommandContext): Promise<number> {
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
