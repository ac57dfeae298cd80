import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { createClient } from './client.ts';
import type { Command, CommandContext } from './command.ts';
import { authCommands } from './commands/auth.ts';
import { chatCommands } from './commands/chat.ts';
import { statusCommands } from './commands/status.ts';
import { CliError, EXIT } from './exit-codes.ts';
import { configFolder, credential, gatewayUrl, readEnvFile } from './places.ts';

const COMMANDS: readonly Command[] = [...authCommands, ...statusCommands, ...chatCommands];

function help(): string {
  const rows = COMMANDS.map(
    ({ words, usage, summary }) => `  ${`svcctl ${words} ${usage}`.trim().padEnd(46)} ${summary}`,
  );
  const codes = Object.entries(EXIT).map(([name, code]) => `${code} ${name}`);
  return `svcctl: talks to a running svc-gateway

${rows.join('\n')}

Options: --json (machine-readable), --url ADDRESS (else SVC_URL, else the configured address), --force
Keys:    SVC_ADMIN_KEY, SVC_CLIENT_KEY, then api.env. A key is never taken as an argument.
Exit:    ${codes.join(', ')}
`;
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        force: { type: 'boolean', default: false },
        model: { type: 'string' },
        url: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new CliError(`${(error as Error).message}. See svcctl --help.`, EXIT.usage);
  }
}

function choose(words: readonly string[]): Command {
  const found = COMMANDS.find(({ words: name }) =>
    name.split(' ').every((word, index) => words[index] === word),
  );
  if (!found) throw new CliError(`there is no command "${words.join(' ')}". See svcctl --help.`, EXIT.usage);
  return found;
}

function runDaemon(args: readonly string[]): Promise<number> {
  const main = join(import.meta.dirname, '..', 'main.ts');
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [main, ...args], { stdio: 'inherit' });
    child.on('error', () => resolve(EXIT.failed));
    child.on('exit', (code) => resolve(code ?? EXIT.failed));
  });
}

async function readPiped(): Promise<string | null> {
  if (process.stdin.isTTY) return null;
  let text = '';
  for await (const chunk of process.stdin) if (text.length < 1 << 20) text += String(chunk);
  return text;
}

async function main(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parse(argv);
  if (values.help || positionals.length === 0 || positionals[0] === 'help') {
    process.stdout.write(help());
    return positionals.length === 0 && !values.help ? EXIT.usage : EXIT.ok;
  }
  const command = choose(positionals);
  const folder = configFolder(process.env);
  const file = readEnvFile(folder);
  const key = credential(process.env, file);
  if (key === null && file.unreadable) {
    process.stderr.write(`svcctl: ${file.path} may not be read; use sudo, or set SVC_ADMIN_KEY.\n`);
  }
  const terminal: { open: Interface | null } = { open: null };
  const lines = () => {
    terminal.open ??= createInterface({ input: process.stdin, output: process.stderr });
    return terminal.open;
  };
  const context: CommandContext = {
    client: createClient({ url: gatewayUrl(values.url, process.env, file, folder), key }),
    args: positionals.slice(command.words.split(' ').length),
    flags: { json: values.json, force: values.force, model: values.model },
    out: (text) => process.stdout.write(text),
    warn: (text) => process.stderr.write(text),
    confirm: async (question) =>
      process.stdin.isTTY ? /^y(es)?$/i.test((await lines().question(`${question} [y/N] `)).trim()) : null,
    piped: readPiped,
    prompt: (label) =>
      process.stdin.isTTY
        ? lines()
            .question(label)
            .catch(() => null)
        : Promise.resolve(null),
    daemon: runDaemon,
  };
  try {
    return await command.run(context);
  } finally {
    terminal.open?.close();
  }
}

process.stdout.on('error', () => process.exit(EXIT.ok));
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const known = error instanceof CliError;
  process.stderr.write(`svcctl: ${known ? error.message : String(error)}\n`);
  process.exitCode = known ? error.exitCode : EXIT.failed;
}
