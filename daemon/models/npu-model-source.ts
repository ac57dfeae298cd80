import { findProgram } from './find-program.ts';
import type { ModelStore } from './model-store.ts';
import { NPU_PROGRAM, type NpuModel, npuModels } from './npu-list.ts';
import { NO_TEXT, type RegisteredModel } from './registered-model.ts';
import { type FoundFile, findModelFile } from './scan.ts';

/** The format of models that the NPU backend manages itself. */
const FORMAT = 'flm';

export interface NpuSourceDeps {
  readonly modelStore: ModelStore;
  /** The search path for the program. Default: the usual folders. */
  readonly path?: string;
  /** Maximum milliseconds for a response. Default: several seconds. */
  readonly limitMs?: number;
}

/** Builds the registered model of the NPU backend. The program manages its files. */
const npuModel = ({ tag, type, bytes, tools }: NpuModel, program: FoundFile): RegisteredModel => ({
  ...NO_TEXT,
  id: tag,
  name: tag,
  type,
  format: FORMAT,
  architecture: null,
  quantization: null,
  kvBytesPerToken: null,
  capabilities: type === 'llm' ? { tools } : {},
  size_bytes: bytes,
  created: program.mtimeS,
  source: 'program',
  path: program.path,
  files: [],
  sizeBytes: bytes,
  mtimeS: program.mtimeS,
  voices: [],
});

/**
 * Models that the NPU backend has fetched are models of this machine, under their native tags
 * (docs/spec/contract.md#model-sources), as long as the backend exists and its NPU can be used; until then
 * they are not listed. While the backend does not answer, the state stays as it is. An id that another model
 * holds stays with that model. Never rejects.
 */
export async function updateNpuModels({ modelStore, path, limitMs }: NpuSourceDeps): Promise<void> {
  const program = await findProgram(NPU_PROGRAM, path);
  const file = program === null ? null : await findModelFile(program);
  const models = file === null ? [] : await npuModels(file.path, limitMs);
  if (models === null) return;
  const tags = new Set(models.map(({ tag }) => tag));
  for (const { id, format } of [...modelStore.list(), ...modelStore.absent()])
    if (format === FORMAT && !tags.has(id)) modelStore.markMissing(id);
  if (file === null) return;
  for (const model of models) {
    const known = modelStore.get(model.tag);
    if (known === undefined || known.format === FORMAT) modelStore.put(npuModel(model, file));
  }
}
