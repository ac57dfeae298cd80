import { Option } from 'commander';
import type { CliCommand } from '../cli-command.ts';
import { choiceArgument, overwrite } from '../options.ts';

const handlers = () => import('../commands/maintenance.ts');

/** Adds the commands that work while the gateway is down, and shell completion. */
export function addMaintenanceCommands(program: CliCommand): void {
  program
    .command('doctor')
    .describe(
      'Find problems and show fixes',
      'Works whether the gateway runs or not, and changes nothing. Each finding is ok, warn or fail, with the next step in one line. The exit code is 1 when a check failed and 0 otherwise, warnings included. With sudo the checks run as the user of the service.',
    )
    .withOptions(new Option('--self-test', 'Also test the built-in engine with a chat'))
    .examples('svcctl doctor', 'sudo svcctl doctor --self-test')
    .runs(async () => (await handlers()).doctor);
  program
    .command('backup')
    .argument('<file>', 'File to write, such as svc.tar.gz')
    .describe(
      'Back up configuration and database',
      'Writes config.toml, slot and upstream files, the settings of api.env and the database into one .tar.gz that only its owner can read. The gateway may be running. Models are not included; keys only with --with-keys.',
    )
    .withOptions(new Option('--with-keys', 'Include the keys'), overwrite())
    .examples('svcctl backup svc.tar.gz', 'svcctl backup svc.tar.gz --with-keys')
    .runs(async () => (await handlers()).backup);
  program
    .command('restore')
    .argument('<file>', 'Backup file')
    .describe(
      'Restore a backup; stop the gateway first',
      'Checks the whole file before anything changes, and copies the replaced files into the state folder. Keys stay unchanged unless the backup contains some. Browsers must log in again. Run the same command again after an interrupted restore.',
    )
    .examples('svcctl restore svc.tar.gz')
    .runs(async () => (await handlers()).restore);
  program
    .command('completion')
    .withArguments(choiceArgument('<shell>', 'Your shell', ['bash', 'zsh', 'fish']))
    .describe(
      'Print a shell completion script',
      'Names of slots, models and upstreams are requested from the gateway.',
    )
    .examples('source <(svcctl completion bash)', 'svcctl completion fish | source')
    .runs(async () => (await import('../commands/completion.ts')).completionOf(program));
}
