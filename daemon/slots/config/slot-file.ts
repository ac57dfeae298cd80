import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { parseByteSize } from '../../contract/byte-size.ts';
import { DURATION_FORM, SlotName, SlotType } from '../../contract/slots.ts';
import { WORKFLOW_FILE_NAME, WORKFLOW_INPUTS, WORKFLOW_TARGET } from '../../contract/workflow.ts';
import { zodMessage } from '../../contract/zod-message.ts';
import { DECLARED_FAMILIES } from '../../models/images/families.ts';
import { tomlReason } from '../../settings/config-text.ts';
import { keyLines } from '../../settings/key-lines.ts';
import { limitProblems, type Problem } from '../../settings/problem.ts';
import { AUTO_MODEL_SLOTS } from '../binding/bindings.ts';
import { defaultRunnerOf, engineFor } from '../engines/table.ts';
import { type ImageSettings, type SlotConfig, SPECULATIONS } from './slot-config.ts';

/** Seconds after which an idle slot is unloaded unless its file says otherwise. */
const IDLE_UNLOAD_S = 900;
const UNIT_S: Readonly<Record<string, number>> = { s: 1, m: 60, min: 60, h: 3600 };
const DURATION = /^(\d+(?:\.\d+)?)\s*(s|m|min|h)$/;
/** Maximum size of a slot file in bytes. */
export const MAX_SLOT_FILE_BYTES = 64 * 1024;

const PrintableText = z.string().regex(/^[^\0-\x1f\x7f]*$/, 'must not contain control characters');
const Duration = z.union(
  [
    z.number().int().min(0),
    z
      .string()
      .regex(DURATION, DURATION_FORM)
      .transform((text) => {
        const [, amount, unit] = DURATION.exec(text) as unknown as [string, string, string];
        return Math.round(Number(amount) * (UNIT_S[unit] as number));
      }),
  ],
  { error: DURATION_FORM },
);

const MEMORY_FORM = 'must be a size such as "8 GB" or "1.5 GiB"';
/** Maximum bytes of key `memory`. */
const MAX_MEMORY_BYTES = 1024 ** 5;
const MemorySize = z
  .union([z.number(), z.string()], { error: MEMORY_FORM })
  .transform((value) => (typeof value === 'string' ? (parseByteSize(value) ?? Number.NaN) : value))
  .refine((bytes) => Number.isSafeInteger(bytes) && bytes > 0 && bytes <= MAX_MEMORY_BYTES, MEMORY_FORM);

const VariableName = z
  .string()
  .regex(/^(?!SVC_)[A-Za-z_][A-Za-z0-9_]*$/, 'must be a variable name, not SVC_*');

/** Keys for external programs, images and servers. */
const PROGRAM_KEYS = {
  command: z.array(PrintableText.min(1).max(4096)).min(1).max(256).optional(),
  health: PrintableText.regex(/^\/[!-~]{0,255}$/, 'must be a path like /health').optional(),
  image: PrintableText.regex(/^[!-~]{1,512}$/, 'must be the name of an image').optional(),
  pull: z.enum(['missing', 'never', 'always']).default('missing'),
  port: z.number().int().min(1).max(65_535).optional(),
  url: PrintableText.max(512).optional(),
  key_env: VariableName.optional(),
};

const FileName = PrintableText.min(1).max(255);
const LoraName = z.union([
  FileName.transform((name) => ({ name, strength: 1 })),
  z.strictObject({ name: FileName, strength: z.number().min(-10).max(10).default(1) }),
]);

const Target = z.string().regex(WORKFLOW_TARGET, 'must be NODE.input, such as "6.text"');
const Targets = z.union([Target.transform((one) => [one]), z.array(Target).max(16)]);
const WorkflowFile = z
  .string()
  .regex(WORKFLOW_FILE_NAME, 'must be the name of a .json file beside the slot file');
const WorkflowKey = z.union([
  WorkflowFile.transform((file) => ({ file, inputs: {} })),
  z.strictObject({
    file: WorkflowFile,
    inputs: z
      .strictObject(Object.fromEntries(WORKFLOW_INPUTS.map((name) => [name, Targets.optional()])))
      .default({}),
  }),
]);

/** Keys of image slots. */
const IMAGE_KEYS = {
  family: z.enum(DECLARED_FAMILIES).optional(),
  checkpoint: FileName.optional(),
  workflow: WorkflowKey.optional(),
  vae: FileName.optional(),
  loras: z.array(LoraName).max(16).optional(),
  defaults: z
    .strictObject({
      steps: z.number().int().min(1).max(150).optional(),
      cfg: z.number().min(0).max(30).optional(),
      sampler: PrintableText.min(1).max(64).optional(),
      scheduler: PrintableText.min(1).max(64).optional(),
      clip_skip: z.number().int().min(1).max(24).optional(),
      negative_prompt: z.string().max(4096).optional(),
    })
    .optional(),
};

/** The keys of `slots/NAME.toml` (docs/spec/contract.md#slot-file). */
export const SlotFile = z.object({
  enabled: z.boolean().default(true),
  type: SlotType.optional(),
  engine: PrintableText.regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be the name of an engine').optional(),
  runner: z.enum(['worker', 'process', 'container', 'attach']).optional(),
  model: PrintableText.min(1).max(1024).optional(),
  device: z
    .string()
    .regex(
      /^(auto|cpu|npu|(cuda|rocm|vulkan)(:\d{1,2})?)$/,
      'must be auto, cpu, cuda:N, rocm:N, vulkan:N or npu',
    )
    .default('auto'),
  context: z.number().int().min(128).max(16_777_216).optional(),
  parallel: z.number().int().min(1).max(64).default(2),
  batch: z.number().int().min(16).max(16_384).optional(),
  cpu_moe: z.boolean().optional(),
  n_cpu_moe: z.number().int().min(0).max(1000).optional(),
  memory: MemorySize.optional(),
  speculation: z.enum(SPECULATIONS).optional(),
  draft_model: PrintableText.min(1).max(1024).optional(),
  draft_tokens: z.number().int().min(1).max(16).optional(),
  autoload: z.boolean().optional(),
  pinned: z.boolean().default(false),
  priority: z.number().int().min(-1000).max(1000).default(0),
  idle_unload: Duration.optional(),
  extra_args: z.array(PrintableText.max(4096)).max(256).default([]),
  env: z.record(VariableName, PrintableText.max(4096)).default({}),
  voice: z
    .object({
      voice: PrintableText.optional(),
      speed: z.number().min(0.25).max(4).optional(),
      response_format: z.enum(['mp3', 'wav', 'opus', 'flac', 'aac', 'pcm']).optional(),
    })
    .optional(),
  enable_thinking: z.boolean().optional(),
  vision: z.boolean().optional(),
  dimensions: z.array(z.number().int().min(1).max(65_536)).max(32).default([]),
  ...IMAGE_KEYS,
  ...PROGRAM_KEYS,
});
const KEYS: ReadonlySet<string> = new Set(Object.keys(SlotFile.shape));

export interface SlotFileResult {
  /** Null when the file is invalid; the slot then does not exist until the file is corrected. */
  readonly config: SlotConfig | null;
  readonly problems: readonly Problem[];
}

/** Returns whether an argument sets the projector of llama-server. */
const isProjector = (word: string): boolean => /^(--mmproj|-mm|--mmproj-url|-mmu)(=|$)/.test(word);

function imageSettingsOf({
  family,
  checkpoint,
  vae,
  loras,
  defaults,
  workflow,
}: z.infer<typeof SlotFile>): ImageSettings | null {
  if ([family, checkpoint, vae, loras, defaults, workflow].every((each) => each === undefined)) return null;
  return {
    family: family ?? null,
    checkpoint: checkpoint ?? null,
    vae: vae ?? null,
    loras: loras ?? [],
    defaults: defaults ?? {},
    workflow: workflow === undefined ? null : { ...workflow, workflow: null },
  };
}

function toConfig(
  name: string,
  file: z.infer<typeof SlotFile>,
  fileKeys: readonly string[] = [],
): SlotConfig {
  const isAgent = name === 'agent';
  const type = file.type ?? AUTO_MODEL_SLOTS[name] ?? 'llm';
  const engine = file.engine ?? engineFor(type);
  return {
    name,
    enabled: file.enabled,
    auto: false,
    type,
    engine,
    runner: file.runner ?? defaultRunnerOf(engine),
    model: file.model ?? null,
    device: file.device,
    context: file.context ?? null,
    parallel: file.parallel,
    batch: file.batch ?? null,
    cpuMoe: file.cpu_moe ?? null,
    nCpuMoe: file.n_cpu_moe ?? null,
    memoryBytes: file.memory ?? null,
    speculation: file.speculation ?? 'auto',
    draftModel: file.draft_model ?? null,
    draftTokens: file.draft_tokens ?? null,
    autoload: file.autoload ?? isAgent,
    pinned: file.pinned,
    priority: file.priority,
    idleUnloadS: file.idle_unload ?? (isAgent ? 0 : IDLE_UNLOAD_S),
    extraArgs: file.extra_args,
    env: file.env,
    voice: file.voice ?? null,
    enableThinking: file.enable_thinking ?? null,
    vision: file.vision ?? [...(file.command ?? []), ...file.extra_args].some(isProjector),
    dimensions: file.dimensions,
    command: file.command ?? null,
    health: file.health ?? null,
    image: file.image ?? null,
    pull: file.pull,
    port: file.port ?? null,
    url: file.url ?? null,
    keyEnv: file.key_env ?? null,
    imageSettings: imageSettingsOf(file),
    fileKeys,
  };
}

/** Returns the settings of a slot without a file (docs/spec/contract.md#slot-file). */
export const builtInSlot = (name: string): SlotConfig => toConfig(name, SlotFile.parse({}));

/** Returns the slot of a model that no slot file names: loaded at the first request, unloaded when idle. */
export const automaticSlot = (
  name: string,
  type: SlotConfig['type'],
  model: string,
  engine = engineFor(type),
): SlotConfig => ({
  ...toConfig(name, SlotFile.parse({ type, engine, autoload: false })),
  auto: true,
  model,
});

function parseToml(
  text: string,
): { table: Record<string, unknown> } | { line: number | null; message: string } {
  if (Buffer.byteLength(text) > MAX_SLOT_FILE_BYTES) return { line: null, message: 'is larger than 64 KiB' };
  try {
    return { table: parse(text) };
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    return { line: cause.line, message: tomlReason(cause) };
  }
}

/**
 * Reads the text of one slot file; `file` is its base name. An invalid value, name or TOML gives no slot and a
 * problem with file, line and reason. An unknown key is reported as a problem and otherwise ignored. The number of
 * problems is limited.
 */
export function readSlotFile(file: string, text: string): SlotFileResult {
  const name = file.replace(/\.toml$/, '');
  const broken = (message: string, line: number | null = null): SlotFileResult => ({
    config: null,
    problems: [{ file, line, message }],
  });
  if (!SlotName.safeParse(name).success) {
    return broken('the name of a slot must contain only a-z, 0-9, - and _, at most 32 characters');
  }
  const toml = parseToml(text);
  if (!('table' in toml)) return broken(toml.message, toml.line);
  const lines = keyLines(text);
  const unknown = Object.keys(toml.table)
    .filter((key) => !KEYS.has(key))
    .map((key) => ({ file, line: lines.get(key) ?? null, message: `unknown key "${key}" is ignored` }));
  const read = SlotFile.safeParse(toml.table);
  const presentKeys = Object.keys(toml.table).filter((key) => KEYS.has(key));
  if (read.success)
    return { config: toConfig(name, read.data, presentKeys), problems: limitProblems(unknown) };
  const wrong = read.error.issues.map((issue) => ({
    file,
    line: lines.get(String(issue.path[0] ?? '')) ?? null,
    message: `${issue.path.join('.')}: ${zodMessage(issue)}`,
  }));
  return { config: null, problems: limitProblems([...wrong, ...unknown]) };
}
