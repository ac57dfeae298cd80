import { Option } from 'commander';
import type { CliCommand } from '../cli-command.ts';
import { choiceArgument, force, model, noWait, quiet, wait, wide } from '../options.ts';

const PURPOSES = [
  'chat',
  'coding',
  'vision',
  'small',
  'embedding',
  'rerank',
  'hearing',
  'speaking',
  'images',
];
const DOWNLOAD = ['<id>', 'Id of a download, or its beginning'] as const;
const handlers = () => import('../commands/models.ts');
const names = () => import('../commands/names.ts');
const pulls = () => import('../commands/pulls.ts');
const kvCache = () => import('../commands/kv-cache.ts');
const upstreamHandlers = () => import('../commands/upstreams.ts');

function addDownloads(models: CliCommand): void {
  models
    .command('pull')
    .argument('<repository>', 'OWNER/NAME, OWNER/NAME:FILE, or the address of the model on the hub')
    .describe(
      'Download a model from the hub',
      'FILE is a file of the repository or a quantisation such as Q4_K_M; without it the gateway chooses a common one. The download continues when this command is ended, and is resumed after an interruption.',
    )
    .withOptions(
      new Option('--projector', 'Also download the vision projector, if any'),
      new Option('--revision <revision>', 'Branch, tag or commit, else the main branch'),
      new Option('--allow-unsupported', 'Download a model that the embedded engine cannot load'),
      noWait(),
    )
    .examples(
      'svcctl models pull Qwen/Qwen3-8B-GGUF',
      'svcctl models pull Qwen/Qwen3-8B-GGUF:Q4_K_M',
      'svcctl models pull https://huggingface.co/Qwen/Qwen3-8B-GGUF',
    )
    .runs(async () => (await pulls()).pull);
  models
    .command('pulls')
    .describe('List downloads, the newest first')
    .withOptions(wide())
    .examples('svcctl models pulls')
    .runs(async () => (await pulls()).list);
  models
    .command('pause')
    .argument(...DOWNLOAD)
    .describe('Pause a download; it can be resumed')
    .examples('svcctl models pause 3f9a')
    .runs(async () => (await pulls()).pause);
  models
    .command('resume')
    .argument(...DOWNLOAD)
    .describe('Resume a paused or failed download')
    .withOptions(wait(), noWait())
    .examples('svcctl models resume 3f9a')
    .runs(async () => (await pulls()).resume);
  models
    .command('cancel')
    .argument(...DOWNLOAD)
    .describe('Cancel a download and delete its files')
    .examples('svcctl models cancel 3f9a')
    .runs(async () => (await pulls()).cancel);
}

function addKvCache(program: CliCommand): void {
  const states = program.group('kv-cache', 'Saved states of conversations');
  states
    .command('show', { isDefault: true })
    .describe(
      'Saved states of conversations by model',
      'The state of a conversation is saved when its model is unloaded, so that the next request does not compute it again. The setting kv_cache.persist chooses memory, disk or off.',
    )
    .withOptions(wide())
    .examples('svcctl kv-cache')
    .runs(async () => (await kvCache()).show);
  states
    .command('clear')
    .argument('[model]', 'Id of a model; without it, of all models')
    .describe('Delete saved states')
    .examples('svcctl kv-cache clear', 'svcctl kv-cache clear qwen3-8b')
    .runs(async () => (await kvCache()).clear);
}

function addBench(program: CliCommand): void {
  program
    .command('bench')
    .argument('[model]', 'Id of a chat model or name of a slot, else agent')
    .describe(
      'Measure the speed of a chat model',
      'Measures prompt and generation at three lengths of the prompt, one request at a time. The model is loaded if it is not. The result is stored and replaces the estimate of its speed.',
    )
    .examples('svcctl bench', 'svcctl bench qwen3-8b')
    .runs(async () => (await import('../commands/bench.ts')).bench);
}

/** Adds the commands for models. */
export function addModelCommands(program: CliCommand): void {
  addKvCache(program);
  addBench(program);
  const models = program.group('models', 'Models on this machine and on the hub');
  models
    .command('list', { isDefault: true })
    .describe('List every registered model')
    .withOptions(quiet(), wide())
    .examples('svcctl models', 'svcctl models list --quiet')
    .runs(async () => (await handlers()).list);
  models
    .command('catalog')
    .withArguments(choiceArgument('[purpose]', 'Only models for this purpose', PURPOSES))
    .describe(
      'Recommended models, and which fit',
      'The list comes with the gateway, which never looks for a newer one. --update loads one that you trust.',
    )
    .withOptions(
      new Option('--update <source>', 'Load a newer list from a file or an http(s) address'),
      new Option('--sha256 <hex>', 'SHA-256 of that list, which its publisher gives'),
      new Option('--reset', 'Restore the list that came with the gateway'),
      wide(),
    )
    .examples(
      'svcctl models catalog',
      'svcctl models catalog coding',
      'svcctl models catalog --update list.json --sha256 $SUM',
    )
    .runs(async () => (await handlers()).catalog);
  models
    .command('search')
    .argument('<words...>', 'Words to search for')
    .describe('Search the model hub', 'Finds repositories that hold GGUF files.')
    .withOptions(wide())
    .examples('svcctl models search qwen3 coder')
    .runs(async () => (await handlers()).search);
  models
    .command('files')
    .argument('<repository>', 'OWNER/NAME on the hub, or its address')
    .describe('List the quantisations of a repository', 'Shows the size of each, and which fit.')
    .withOptions(wide())
    .examples('svcctl models files unsloth/Qwen3.5-9B-GGUF')
    .runs(async () => (await handlers()).files);
  models
    .command('scan')
    .describe('Scan the model folders again')
    .examples('svcctl models scan')
    .runs(async () => (await handlers()).scan);
  models
    .command('register')
    .argument('<path>', 'File or folder on the machine of the gateway')
    .describe('Register a file or folder by its path')
    .examples('svcctl models register /srv/models/qwen3-8b.gguf')
    .runs(async () => (await handlers()).register);
  models
    .command('rm')
    .argument('<model>', 'Id of a model')
    .describe(
      'Remove a pulled or registered model',
      'Deletes the files of a pulled model. The files of other models stay.',
    )
    .withOptions(force())
    .examples('svcctl models rm qwen3-8b')
    .runs(async () => (await handlers()).remove);
  models
    .command('use')
    .argument('<model>', 'Id of a chat model')
    .describe(
      'Use a model as agent',
      'The model that has served as agent stays until you choose another one. Naming that model declines larger ones.',
    )
    .examples('svcctl models use qwen3-14b')
    .runs(async () => (await handlers()).use);
  addNames(models);
  addDownloads(models);
}

function addNames(models: CliCommand): void {
  models
    .command('names')
    .describe(
      'Aliases and presets of config.toml',
      'Shows what serves each name now, and why a name has no effect. Presets are edited in config.toml.',
    )
    .withOptions(wide())
    .examples('svcctl models names')
    .runs(async () => (await names()).list);
  models
    .command('alias')
    .argument('<name>', 'The new name; with *, every name that it matches and nothing else has')
    .argument('<target>', 'Slot, model or other name that it stands for')
    .describe('Give a model or slot another name')
    .examples('svcctl models alias gpt-4o agent', "svcctl models alias 'claude-*' agent")
    .runs(async () => (await names()).alias);
  models
    .command('unalias')
    .argument('<name>', 'Name of an alias')
    .describe('Remove an alias')
    .examples('svcctl models unalias gpt-4o')
    .runs(async () => (await names()).unalias);
}

/** Adds the commands for upstreams. */
export function addUpstreamCommands(program: CliCommand): void {
  const upstreams = program.group('upstreams', 'Other servers that serve models');
  upstreams
    .command('list', { isDefault: true })
    .describe('List every upstream with its health')
    .withOptions(quiet(), wide())
    .examples('svcctl upstreams')
    .runs(async () => (await upstreamHandlers()).list);
  upstreams
    .command('add')
    .argument('<name>', 'Name of the new upstream')
    .argument('<url>', 'Address of its API, with /v1')
    .argument('[variable]', 'Variable of api.env that holds its key, such as UPSTREAM_DESK')
    .argument('[kind]', 'What it is: openai, llama-server, vllm, tei or svc')
    .describe('Add an upstream', 'Its key is read from api.env of the gateway.')
    .examples(
      'svcctl upstreams add desk http://desk.lan:8080/v1',
      'svcctl upstreams add cloud https://api.example.com/v1 UPSTREAM_CLOUD openai',
    )
    .runs(async () => (await upstreamHandlers()).add);
  upstreams
    .command('test')
    .argument('<upstream>', 'Name of an upstream')
    .argument('[model]', 'Id of a model to chat with')
    .describe('Test an upstream', 'Requests its model list and, with a model, a chat of a few tokens.')
    .withOptions(model('Id of a model to chat with'))
    .examples('svcctl upstreams test desk', 'svcctl upstreams test desk qwen3-8b')
    .runs(async () => (await upstreamHandlers()).test);
  upstreams
    .command('rm')
    .argument('<upstream>', 'Name of an upstream')
    .describe('Remove an upstream')
    .withOptions(force())
    .examples('svcctl upstreams rm desk')
    .runs(async () => (await upstreamHandlers()).remove);
}
