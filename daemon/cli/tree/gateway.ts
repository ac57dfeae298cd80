import { Option } from 'commander';
import type { CliCommand } from '../cli-command.ts';
import { days, follow, level, limit, lines, state, wide } from '../options.ts';

const evidence = () => new Option('--evidence', 'Also show which probe found what, and what is unknown');

function addHardware(program: CliCommand): void {
  const hardware = program.group('hardware', 'Devices and memory');
  hardware
    .command('show', { isDefault: true })
    .describe('Show devices and memory', 'This is the command when only `svcctl hardware` is given.')
    .withOptions(evidence(), wide())
    .examples('svcctl hardware', 'svcctl hardware show --evidence')
    .runs(async () => (await import('../commands/machine.ts')).showHardware);
  hardware
    .command('probe')
    .describe('Probe the hardware again')
    .withOptions(evidence(), wide())
    .examples('svcctl hardware probe')
    .runs(async () => (await import('../commands/machine.ts')).probeHardware);
}

function addRequests(program: CliCommand): void {
  const requests = program.group('requests', 'Running and recent requests');
  requests
    .command('list', { isDefault: true })
    .describe('List running and recent requests')
    .withOptions(state(), limit(), new Option('--before <id>', 'Only requests before this one'), wide())
    .examples('svcctl requests', 'svcctl requests list --state running')
    .runs(async () => (await import('../commands/requests.ts')).list);
  requests
    .command('show')
    .argument('<id>', 'Id of a request, or its last 8 characters')
    .describe('Show a request')
    .examples('svcctl requests show 4f1c09ab')
    .runs(async () => (await import('../commands/requests.ts')).show);
  requests
    .command('cancel')
    .argument('<id>', 'Id of a request, or its last 8 characters')
    .describe('Cancel a running request')
    .examples('svcctl requests cancel 4f1c09ab')
    .runs(async () => (await import('../commands/requests.ts')).cancel);
}

/** Adds the commands that show the state of the gateway. */
export function addGatewayCommands(program: CliCommand): void {
  program
    .command('status')
    .describe('The gateway and its slots')
    .withOptions(wide())
    .examples('svcctl status', 'svcctl status --json')
    .runs(async () => (await import('../commands/status.ts')).status);
  program
    .command('config')
    .describe(
      'Every setting with its value and source',
      'Requests the settings from the gateway, which needs an admin key. When the gateway does not respond or refuses, reads the files of this machine instead and says so in the first line. With --json only a response of the gateway has answered_by.',
    )
    .examples('svcctl config', 'svcctl config --json')
    .runs(async () => (await import('../commands/status.ts')).config);
  addHardware(program);
  addRequests(program);
  program
    .command('usage')
    .describe('Requests and tokens per day')
    .withOptions(days(), wide())
    .examples('svcctl usage', 'svcctl usage --days 7')
    .runs(async () => (await import('../commands/machine.ts')).usage);
  program
    .command('logs')
    .argument('[slot]', 'Name of a slot; without it, the log of the gateway')
    .describe('The log of the gateway or of a slot')
    .withOptions(follow(), lines(), level())
    .examples('svcctl logs --level warn', 'svcctl logs agent -f')
    .runs(async () => (await import('../commands/logs.ts')).logs);
  program
    .command('events')
    .describe('Stream live events until Ctrl-C')
    .withOptions(new Option('-f, --follow', 'Accepted for symmetry with logs; events always follow'))
    .examples('svcctl events', 'svcctl events --json')
    .runs(async () => (await import('../commands/logs.ts')).events);
}
