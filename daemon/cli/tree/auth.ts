import type { CliCommand } from '../cli-command.ts';
import { choiceArgument, force } from '../options.ts';

/** Adds the commands for keys, enforcement and sessions. */
export function addAuthCommands(program: CliCommand): void {
  const auth = program.group('auth', 'Keys, enforcement and browser sessions');
  auth
    .command('status')
    .describe('Enforcement, keys and your own tier')
    .examples('svcctl auth status')
    .runs(async () => (await import('../commands/auth.ts')).status);
  auth
    .command('rotate')
    .withArguments(choiceArgument('<tier>', 'The key to replace', ['admin', 'client']))
    .describe(
      'Replace a key and print its fingerprint',
      'The new key is written to api.env and never printed. Asks before an existing key is replaced.',
    )
    .withOptions(force())
    .examples('svcctl auth rotate client', 'svcctl auth rotate admin --force')
    .runs(async () => (await import('../commands/auth.ts')).rotate);
  auth
    .command('set')
    .argument('<variable>', 'UPSTREAM_… or HF_TOKEN')
    .describe(
      'Set the key of an upstream or of the hub',
      'The value is read from standard input, or typed without being shown. It is written to api.env and never printed; the fingerprint is the beginning of its SHA-256.',
    )
    .examples('svcctl auth set UPSTREAM_DESK', 'svcctl auth set HF_TOKEN < token.txt')
    .runs(async () => (await import('../commands/auth.ts')).set);
  auth
    .command('require')
    .withArguments(choiceArgument('<state>', 'Whether requests need a key', ['on', 'off']))
    .describe(
      'Turn enforcement on or off',
      'The exit code is 1 when SVC_REQUIRE_AUTH in the environment of the gateway overrides the new value.',
    )
    .examples('svcctl auth require on')
    .runs(async () => (await import('../commands/auth.ts')).requireAuth);
  auth
    .command('sessions')
    .describe('Browser sessions that are valid now')
    .examples('svcctl auth sessions')
    .runs(async () => (await import('../commands/auth.ts')).sessions);
}
