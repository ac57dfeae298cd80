import { Option } from 'commander';
import type { CliCommand } from '../cli-command.ts';
import { follow, force, lines, model, noWait, quiet, wait, wide } from '../options.ts';

const SLOT = ['<slot>', 'Name of a slot'] as const;
const SETTINGS = ['<key=value...>', 'Settings of the slot file'] as const;
const handlers = () => import('../commands/slots.ts');
const files = () => import('../commands/slot-files.ts');

function addLifecycle(slots: CliCommand): void {
  slots
    .command('load')
    .argument(...SLOT)
    .describe(
      'Load the model of a slot',
      'Returns when the slot is ready. An error names the reason and, for memory, the sizes.',
    )
    .withOptions(wait(), noWait())
    .examples('svcctl slots load agent', 'svcctl slots load agent --no-wait')
    .runs(async () => (await handlers()).load);
  slots
    .command('unload')
    .argument(...SLOT)
    .describe('Unload a slot after its running requests')
    .withOptions(wait(), noWait())
    .examples('svcctl slots unload agent')
    .runs(async () => (await handlers()).unload);
  slots
    .command('restart')
    .argument(...SLOT)
    .describe('Restart the engine of a slot')
    .withOptions(wait(), noWait())
    .examples('svcctl slots restart agent')
    .runs(async () => (await handlers()).restart);
  slots
    .command('swap')
    .argument(...SLOT)
    .argument('<model>', 'Id of a model')
    .describe(
      'Give a slot another model',
      'The model is written into the slot file and loaded. With --once it is only loaded.',
    )
    .withOptions(new Option('--once', 'Do not write the model into the slot file'), wait(), noWait())
    .examples('svcctl slots swap agent qwen3-8b', 'svcctl slots swap agent qwen3-8b --once')
    .runs(async () => (await handlers()).swap);
}

function addFiles(slots: CliCommand): void {
  slots
    .command('plan')
    .argument(...SLOT)
    .describe('What a load would start and need', 'Nothing is started.')
    .withOptions(model('Plan this model instead of that of the slot'), wide())
    .examples('svcctl slots plan agent', 'svcctl slots plan agent --model qwen3-8b')
    .runs(async () => (await files()).plan);
  slots
    .command('settings')
    .argument(...SLOT)
    .describe('Every setting of a slot and its origin')
    .withOptions(wide())
    .examples('svcctl slots settings agent')
    .runs(async () => (await files()).settings);
  slots
    .command('create')
    .argument('<name>', 'Name of the new slot')
    .argument(...SETTINGS)
    .describe('Add a slot')
    .examples('svcctl slots create writer model=qwen3-8b context=16384')
    .runs(async () => (await files()).create);
  slots
    .command('set')
    .argument(...SLOT)
    .argument(...SETTINGS)
    .describe(
      'Change settings of a slot',
      'KEY= removes a key from the slot file. The rest of the file stays unchanged.',
    )
    .examples('svcctl slots set writer "idle_unload=15 min"', 'svcctl slots set writer context=')
    .runs(async () => (await files()).set);
  slots
    .command('rm')
    .argument(...SLOT)
    .describe('Remove a slot and its file')
    .withOptions(force())
    .examples('svcctl slots rm writer', 'svcctl slots rm writer --force')
    .runs(async () => (await files()).remove);
}

/** Adds the commands for slots. */
export function addSlotCommands(program: CliCommand): void {
  const slots = program.group('slots', 'Slots: names under which models run');
  slots
    .command('list', { isDefault: true })
    .describe('List every slot with its state')
    .withOptions(quiet(), wide())
    .examples('svcctl slots', 'svcctl slots list --quiet')
    .runs(async () => (await handlers()).list);
  slots
    .command('show')
    .argument(...SLOT)
    .describe('Show a slot')
    .examples('svcctl slots show agent')
    .runs(async () => (await handlers()).show);
  addLifecycle(slots);
  addFiles(slots);
  slots
    .command('logs')
    .argument(...SLOT)
    .describe('Engine output of a slot')
    .withOptions(follow(), lines())
    .examples('svcctl slots logs agent', 'svcctl slots logs agent -f -n 0')
    .runs(async () => (await import('../commands/logs.ts')).slotLogs);
}
