import type { ModelMetadata } from './read-metadata-in-child.ts';
import { type ModelSource, newModel, type RegisteredModel } from './registered-model.ts';
import type { FoundFile } from './scan.ts';
import { newSpeechModel } from './speech-model.ts';
import { newWeightsModel } from './weights-model.ts';

/** Builds the model of a file from its metadata. */
export function modelOfFile(
  id: string,
  source: ModelSource,
  file: FoundFile,
  metadata: ModelMetadata,
): RegisteredModel {
  if (!('kind' in metadata)) return newModel(id, source, file, metadata);
  if (metadata.kind === 'weights') return newWeightsModel(id, source, file, metadata);
  return newSpeechModel(id, source, file, metadata);
}
