import { basename } from 'node:path';
import { ESPEAK_ID, type EspeakVoice } from './espeak-voices.ts';
import { type ModelSource, NOT_PULLED, type RegisteredModel } from './registered-model.ts';
import type { FoundFile } from './scan.ts';
import type { SpeechFacts } from './speech-facts.ts';

/** What only models of text have that are read from files. */
export const NO_TEXT = {
  context_length: null,
  enable_thinking: null,
  contextTrain: null,
  parameters: null,
  layers: null,
  kvHeads: null,
  headDim: null,
  embedding: null,
  kvBytesPerToken: 0,
  chatTemplate: false,
  capabilities: {},
  licence: null,
  demo: false,
  binding: null,
  ...NOT_PULLED,
} as const;

/** The speech model in a folder, as it is registered the first time. */
export const newSpeechModel = (
  id: string,
  source: ModelSource,
  folder: FoundFile,
  facts: SpeechFacts,
): RegisteredModel => ({
  ...NO_TEXT,
  id,
  name: basename(folder.path),
  type: facts.type,
  format: 'onnx',
  architecture: facts.family,
  quantization: facts.quantization,
  size_bytes: facts.sizeBytes,
  created: folder.mtimeS,
  source,
  path: folder.path,
  files: [folder.path],
  sizeBytes: folder.sizeBytes,
  mtimeS: folder.mtimeS,
  voices: facts.voices,
});

/** The speaking program of this machine as a model that needs no weights. */
export const espeakModel = (program: FoundFile, voices: readonly EspeakVoice[]): RegisteredModel => ({
  ...NO_TEXT,
  id: ESPEAK_ID,
  name: 'eSpeak NG',
  type: 'tts',
  format: 'program',
  architecture: ESPEAK_ID,
  quantization: null,
  size_bytes: program.sizeBytes,
  created: program.mtimeS,
  source: 'program',
  path: program.path,
  files: [program.path],
  sizeBytes: program.sizeBytes,
  mtimeS: program.mtimeS,
  voices: voices.map(({ id }) => id),
});
