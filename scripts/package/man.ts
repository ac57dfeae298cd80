import type { Option } from 'commander';
import { ABOUT } from '../../daemon/cli/about.ts';
import type { CliCommand } from '../../daemon/cli/cli-command.ts';
import { exitMeanings } from '../../daemon/cli/exit-codes.ts';
import { createProgram } from '../../daemon/cli/program.ts';
import { USAGE } from '../../daemon/lib/arguments.ts';
import { settingRows } from '../../daemon/settings/catalogue.ts';
import { page, roff, section, term } from './roff.ts';

type Shown = { version: string; date: number };

const optionTerm = ({ flags, description }: Option): string => term(flags, `${description}.`);

const commandTerm = (command: CliCommand): string => {
  const options = command.options.map(({ flags, description }) => `${flags}: ${description}.`);
  const examples = command.exampleLines.map((line, index) => `${index === 0 ? 'Example: ' : ''}${line}`);
  return term(command.usageLine, [command.description(), ...options, examples.join('; ')].join(' '));
};

/** `svcctl(1)`, from the tree of commands. */
export function svcctlPage(shown: Shown): string {
  const program = createProgram();
  return page({ name: 'svcctl', part: 1, ...shown }, [
    section('name', roff('svcctl - command-line client of svc-gateway')),
    section('synopsis', '.B svcctl', roff('COMMAND [ARGUMENT…] [OPTION…]')),
    section('description', roff(ABOUT.join(' ').replaceAll('`', ''))),
    section('options', ...program.createHelp().visibleOptions(program).map(optionTerm)),
    section('commands', ...program.leaves.map(commandTerm)),
    section('exit status', ...exitMeanings().map(([code, meaning]) => term(String(code), meaning))),
    section('see also', roff('svc-gateway(8)')),
  ]);
}

const settingTerm = (row: ReturnType<typeof settingRows>[number]): string => {
  const places = [row.env, row.toml && `[${row.toml.replace('.', '] ')}`].filter(Boolean).join(', ');
  const value = row.secret ? 'a secret' : `${row.type.name}, default ${JSON.stringify(row.default)}`;
  return term(places, `${row.help} (${value}; takes effect ${row.live ? 'at once' : 'at the next start'})`);
};

/** `svc-gateway(8)`, from the catalogue of settings. */
export function gatewayPage(shown: Shown): string {
  const usage = USAGE.split('\n').filter((line) => line.startsWith('  '));
  return page({ name: 'svc-gateway', part: 8, ...shown }, [
    section('name', roff('svc-gateway - the inference gateway for a home lab')),
    section('synopsis', '.nf', ...usage.map((line) => roff(line.trim())), '.fi'),
    section(
      'description',
      roff(
        'One daemon that turns the hardware of this machine into one private API in the style of OpenAI. As a service it runs as user svc and is controlled with systemctl.',
      ),
    ),
    section('settings', ...settingRows().map(settingTerm)),
    section(
      'files',
      term('/etc/svc/config.toml, /etc/svc/slots, /etc/svc/upstreams', 'Configuration.'),
      term('/etc/svc/api.env', 'Keys and overrides; mode 0600. A name in it wins over the environment.'),
      term('/var/lib/svc', 'Database, models, signing secret, logs of engines.'),
    ),
    section(
      'signals',
      term('SIGHUP', 'Reads everything again.'),
      term('SIGTERM, SIGINT', 'Lets running answers end within server.drain_limit_s, then stops.'),
    ),
    section('see also', roff('svcctl(1), systemctl(1)')),
  ]);
}
