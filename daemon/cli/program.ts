import { VERSION } from '../lib/version.ts';
import { CliCommand } from './cli-command.ts';
import { EXIT } from './exit-codes.ts';
import { addAuthCommands } from './tree/auth.ts';
import { addGatewayCommands } from './tree/gateway.ts';
import { addInferenceCommands } from './tree/inference.ts';
import { addMaintenanceCommands } from './tree/maintenance.ts';
import { addModelCommands, addUpstreamCommands } from './tree/models.ts';
import { addSlotCommands } from './tree/slots.ts';

/**
 * Returns the tree of all commands. Parsing, help, completion and manuals use it. `write` receives the help
 * and the version; errors are thrown as CommanderError.
 */
export function createProgram(write: (text: string) => void = () => {}): CliCommand {
  const program = new CliCommand('svcctl')
    .description('Command-line client of svc-gateway.')
    .usage('[options] <command>')
    .option('--json', 'Print what the gateway answers as JSON')
    .option('--url <address>', 'Address of the gateway, else SVC_URL, else the address of its configuration')
    .version(`svcctl ${VERSION}`, '--version', 'Print the version')
    .helpOption('-h, --help', 'Print the help of a command')
    .exitOverride()
    .configureOutput({ writeOut: write, writeErr: () => {} });
  program.commandsGroup('Gateway:');
  addGatewayCommands(program);
  program.commandsGroup('Models:');
  addSlotCommands(program);
  addModelCommands(program);
  addUpstreamCommands(program);
  program.commandsGroup('Requests to a model:');
  addInferenceCommands(program);
  program.commandsGroup('Administration:');
  addAuthCommands(program);
  addMaintenanceCommands(program);
  return program
    .helpCommand('help [command]', 'Print the help of a command')
    .examples('svcctl status', 'svcctl chat "Name three rivers"', 'svcctl slots load agent', 'svcctl doctor')
    .note('Keys:', 'SVC_ADMIN_KEY, SVC_CLIENT_KEY, then api.env. A key is never an argument.')
    .note(
      'Exit codes:',
      Object.entries(EXIT)
        .map(([name, code]) => `${code} ${name}`)
        .join(', '),
    );
}
