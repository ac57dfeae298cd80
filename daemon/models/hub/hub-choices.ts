import type { ModelFitView } from '../../contract/catalog.ts';
import type { HubChoicesView } from '../../contract/pulls.ts';
import type { Catalog } from '../catalog-store.ts';
import type { GgufMetadata } from '../gguf-metadata.ts';
import { loadObjection } from '../llama-architectures.ts';
import { type GgufChoice, ggufChoices } from '../pulls/choose-files.ts';
import type { HubRepo } from './hub.ts';
import type { RemoteHeaders } from './remote-header.ts';

/** A model of a repository, with what its header would say. */
export interface RemoteModel {
  readonly id: string;
  readonly path: null;
  readonly type: GgufMetadata['type'];
  readonly demo: false;
  readonly sizeBytes: number;
  readonly contextTrain: number | null;
  readonly contextMemory: GgufMetadata['contextMemory'];
  readonly cardBytes: number;
  readonly experts: GgufMetadata['experts'];
  readonly activeBytes: number;
  readonly readsInSteps: boolean;
}

export interface HubChoicesDeps {
  readonly catalog: Pick<Catalog, 'refusal'>;
  readonly headers: RemoteHeaders;
  fitOf(model: RemoteModel): ModelFitView;
}

/** Files of one repository that are listed. */
const MAX_CHOICES = 100;

/** Returns a model of another size with the header of a model of the same repository. */
function scaled(id: string, bytes: number, header: GgufMetadata | null): RemoteModel {
  const factor = header === null ? 1 : bytes / header.sizeBytes;
  return {
    id,
    path: null,
    type: header?.type ?? 'llm',
    demo: false,
    sizeBytes: bytes,
    contextTrain: header?.contextTrain ?? null,
    contextMemory: header?.contextMemory ?? null,
    cardBytes: header === null ? bytes : Math.round(header.cardBytes * factor),
    experts:
      header?.experts == null
        ? null
        : { bytes: Math.round(header.experts.bytes * factor), layers: header.experts.layers },
    activeBytes: header === null ? bytes : Math.round(header.activeBytes * factor),
    readsInSteps: header?.readsInSteps ?? false,
  };
}

/**
 * Returns the GGUF models of a repository with their fit. All quantisations have the same context, so one header is
 * read, that of the preferred one. Rejects only with the reason of the signal.
 */
export async function hubChoices(
  found: HubRepo,
  { catalog, headers, fitOf }: HubChoicesDeps,
  signal: AbortSignal,
): Promise<HubChoicesView> {
  const { choices, preferred, projector } = ggufChoices(found.files);
  const isPreferred = ({ parts }: GgufChoice) => parts[0]?.path === preferred;
  const sample = choices.find(isPreferred) ?? choices[0];
  const header = sample === undefined ? null : await headers.read(found, sample.parts, signal);
  return {
    repo: found.repo,
    revision: found.revision,
    licence: found.licence,
    gated: found.gated,
    architecture: header?.architecture ?? null,
    context_length: header?.contextTrain ?? null,
    projector: projector?.path ?? null,
    objection: catalog.refusal(found.repo) ?? (header === null ? null : loadObjection(header)),
    choices: choices.slice(0, MAX_CHOICES).map((choice) => {
      const file = choice.parts[0]?.path ?? '';
      const model = `${found.repo}:${file}`;
      return {
        model,
        file,
        quantization: choice.quantization,
        size_bytes: choice.bytes,
        parts: choice.parts.length,
        fit: fitOf(scaled(model, choice.bytes, header)),
        preferred: isPreferred(choice),
      };
    }),
  };
}
