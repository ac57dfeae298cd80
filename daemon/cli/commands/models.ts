import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { CatalogUpdateBody, CatalogView, ModelFitView } from '../../contract/catalog.ts';
import type { AgentView, ModelProblemView, ModelWithMemory } from '../../contract/models.ts';
import type { HubChoicesView, HubModelView } from '../../contract/pulls.ts';
import { speedText } from '../../contract/speed-text.ts';
import { formatBytes } from '../../lib/text/bytes-text.ts';
import { plural } from '../../lib/text/plural.ts';
import type { CommandContext } from '../command.ts';
import { requireConfirmation } from '../confirmation.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { count } from '../format.ts';
import { json, plain } from '../output.ts';
import { fitted } from '../table.ts';

/** Long, because a scan of large folders or a slow hub takes time. */
const TIMEOUT_MS = 600_000;

export async function list({ client, flags, out, width }: CommandContext): Promise<number> {
  const view = await client.call<{ models: ModelWithMemory[]; problems: ModelProblemView[] }>('models');
  if (flags.json) out(json(view));
  else if (flags.quiet) out(view.models.map(({ id }) => `${plain(id)}\n`).join(''));
  else {
    out(view.models.length === 0 ? 'No model yet.\n' : modelTable(view.models, width));
    out(problemLines(view.problems));
  }
  return EXIT.ok;
}

/** One line per file that cannot be used, with the reason and what to do. */
const problemLines = (problems: readonly ModelProblemView[]): string =>
  problems
    .map(({ file, reason, advice }) => {
      const sentence = /[.!?]$/.test(reason) ? reason : `${reason}.`;
      return `! ${plain(file)}: ${plain(advice === null ? reason : `${sentence} ${advice}`)}\n`;
    })
    .join('');

function modelTable(models: readonly ModelWithMemory[], width: number): string {
  const rows = models.map((model) => [
    model.id,
    model.projector ? `${model.type}, vision` : model.type,
    model.quantization ?? '-',
    formatBytes(model.size_bytes),
    count(model.context_length),
    Object.values(model.memory).length === 0 ? '-' : formatBytes(Math.max(...Object.values(model.memory))),
    model.binding ?? (model.demo ? 'demonstration' : '-'),
    model.repo ?? model.source,
    model.licence ?? '-',
  ]);
  const head = ['MODEL', 'TYPE', 'QUANT', 'SIZE', 'CONTEXT', 'MEMORY', 'BOUND TO', 'FROM', 'LICENCE'];
  return fitted(head, rows, { width, shrink: [2, 6, 7, 8], shrinkLast: [0] });
}

/** Chooses the model of slot `agent`. */
export async function use({ client, flags, out }: CommandContext, model: string): Promise<number> {
  const view = await client.call<AgentView>('agent.put', { model });
  out(flags.json ? json(view) : `agent is now ${plain(view.model ?? model)}.\n`);
  return EXIT.ok;
}

export async function scan({ client, flags, out }: CommandContext): Promise<number> {
  const options = { timeoutMs: TIMEOUT_MS };
  const view = await client.call<{ models: number; problems: ModelProblemView[] }>(
    'model.scan',
    undefined,
    options,
  );
  if (flags.json) out(json(view));
  else {
    out(`Found ${plural(view.models, 'model')}.\n`);
    out(problemLines(view.problems));
  }
  return EXIT.ok;
}

export async function register(context: CommandContext, path: string): Promise<number> {
  const options = { timeoutMs: TIMEOUT_MS };
  const model = await context.client.call<ModelWithMemory>(
    'model.register',
    { path: resolve(path) },
    options,
  );
  context.out(context.flags.json ? json(model) : `Registered ${plain(model.id)} (${model.type}).\n`);
  return EXIT.ok;
}

export async function remove(context: CommandContext, id: string): Promise<number> {
  await requireConfirmation(context, `This deletes the files of ${plain(id)} if it was pulled. Remove it?`);
  const done = await context.client.call<{ removed: string; files: number }>('model.remove', undefined, {
    params: { id },
  });
  const what = done.files === 0 ? 'Its files were not deleted.' : `Files deleted: ${done.files}.`;
  context.out(context.flags.json ? json(done) : `Removed ${plain(done.removed)}. ${what}\n`);
  return EXIT.ok;
}

export async function search(
  { client, flags, out, width }: CommandContext,
  ...words: string[]
): Promise<number> {
  const q = words.join(' ').trim();
  const view = await client.call<{ results: HubModelView[] }>('model.search', undefined, {
    query: { q },
    timeoutMs: TIMEOUT_MS,
  });
  if (flags.json) out(json(view));
  else if (view.results.length === 0) out('The hub has no matching GGUF repository.\n');
  else {
    const rows = view.results.map((one) => [
      one.repo,
      String(one.downloads),
      String(one.likes),
      one.gated ? 'gated' : '',
      one.licence ?? '-',
    ]);
    out(
      fitted(['REPOSITORY', 'DOWNLOADS', 'LIKES', '', 'LICENCE'], rows, {
        width,
        shrink: [4],
        shrinkLast: [0],
      }),
    );
  }
  return EXIT.ok;
}

/** What stays on the CPU with another engine; empty when nothing does. */
const expertsNote = ({ cpu_experts: placed }: ModelFitView): string =>
  placed === null ? '' : `; ${placed.engine}: experts of ${placed.layers}/${placed.of} layers on the CPU`;

const fitText = (fit: ModelFitView): string => `${BADGES[fit.badge](fit)}${expertsNote(fit)}`;

/** The expected or measured speed; a dash when it is not known. */
const speedCell = ({ badge, speed }: ModelFitView): string =>
  speed === undefined || badge === 'does_not_fit' ? '-' : speedText(speed);

const BADGES: Readonly<Record<ModelFitView['badge'], (fit: ModelFitView) => string>> = {
  fits: () => 'fits',
  fits_with_context: ({ context }) => `fits with ${context} tokens`,
  needs_eviction: ({ evicts }) => `needs ${evicts.join(', ') || 'others'} unloaded`,
  does_not_fit: () => 'does not fit',
  unknown: () => '-',
};

export async function files(
  { client, flags, out, width }: CommandContext,
  repository: string,
): Promise<number> {
  const view = await client.call<HubChoicesView>('model.choices', undefined, {
    query: { repo: repository },
    timeoutMs: TIMEOUT_MS,
  });
  if (flags.json) out(json(view));
  else if (view.choices.length === 0) out('The repository has no GGUF model.\n');
  else {
    const rows = view.choices.map((one) => [
      one.file,
      one.quantization ?? '-',
      formatBytes(one.size_bytes),
      fitText(one.fit),
      speedCell(one.fit),
      one.preferred ? 'default' : '',
    ]);
    out(fitted(['FILE', 'QUANT', 'SIZE', 'FIT', 'SPEED', ''], rows, { width, shrink: [3], shrinkLast: [0] }));
    if (view.objection !== null) out(`! ${plain(view.objection)}\n`);
    out(`To download one: svcctl models pull ${plain(view.repo)}:FILE\n`);
  }
  return EXIT.ok;
}

/** Returns the body of an update: the text of a file, or an address that the gateway reads. */
async function updateBody(source: string, sha256: string | undefined): Promise<CatalogUpdateBody> {
  if (sha256 === undefined) throw new CliError('--update needs --sha256', EXIT.usage);
  if (/^https?:\/\//i.test(source)) return { url: source, sha256 };
  const text = await readFile(source, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CliError(`${source} cannot be read (${error.code})`, EXIT.usage);
  });
  return { text, sha256 };
}

async function catalogOf({ client, flags }: CommandContext): Promise<CatalogView> {
  const options = { timeoutMs: TIMEOUT_MS };
  if (flags.update !== undefined)
    return client.call<CatalogView>('catalog.update', await updateBody(flags.update, flags.sha256), options);
  return client.call<CatalogView>(flags.reset ? 'catalog.reset' : 'model.catalog');
}

/** Gigabytes of the memory classes, then the kinds of memory. */
const memoryWords = (memory: CatalogView['entries'][number]['memory']): string => memory.join(', ');

export async function catalog(context: CommandContext, purpose?: string): Promise<number> {
  const { flags, out, width } = context;
  const view = await catalogOf(context);
  const entries = view.entries.filter((entry) => purpose === undefined || entry.purpose === purpose);
  if (flags.json) out(json({ ...view, entries }));
  else {
    const rows = entries.map((entry) => [
      entry.purpose,
      memoryWords(entry.memory),
      entry.model,
      `${entry.unverified.includes('size') ? '~' : ''}${formatBytes(entry.size_bytes)}`,
      entry.installed === null
        ? entry.objection === null
          ? fitText(entry.fit)
          : 'not supported'
        : 'installed',
      entry.objection === null ? speedCell(entry.fit) : '-',
      `${entry.licence}${entry.unverified.includes('licence') ? ' (?)' : ''}`,
    ]);
    out(
      fitted(['PURPOSE', 'MEMORY', 'MODEL', 'SIZE', 'FIT', 'SPEED', 'LICENCE'], rows, {
        width,
        shrink: [1, 4, 6],
        shrinkLast: [2],
      }),
    );
    const origin = view.updated ? 'that you loaded' : 'that came with the gateway';
    out(`List of ${view.as_of} ${origin}; memory in GB; ~ and (?) are not verified.\n`);
    out('To download one: svcctl models pull MODEL\n');
  }
  return EXIT.ok;
}
